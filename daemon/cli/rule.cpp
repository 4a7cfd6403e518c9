#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "daemon/api/json.h"
#include "daemon/api/ruling_request.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/remote.h"
#include "daemon/report/rulings.h"
#include "daemon/service/open_store.h"

namespace torchwatch::cli {
namespace {

/// A decision of a user, as typed. The parser of the API checks it.
struct RuleRequest {
  std::string kind;  ///< "accept", "false_alarm", "mute", "unmute"
  std::optional<std::int64_t> incident;
  std::string fleet;
  std::string benchmark;
  std::string metric;
  std::string who;
  std::string why;
  std::string until;
  bool as_json = false;
};

nlohmann::ordered_json to_body(RuleRequest const& asked) {
  nlohmann::ordered_json body{{"kind", asked.kind}, {"who", asked.who}, {"why", asked.why}};
  if (asked.incident) body["incident"] = *asked.incident;
  if (!asked.fleet.empty()) body["fleet"] = asked.fleet;
  if (!asked.benchmark.empty()) body["benchmark"] = asked.benchmark;
  if (!asked.metric.empty()) body["metric"] = asked.metric;
  if (!asked.until.empty()) body["until"] = asked.until;
  return body;
}

int print_ruling(nlohmann::ordered_json const& ruling, bool as_json) {
  if (as_json)
    std::cout << ruling.dump(2) << '\n';
  else
    std::cout << "ruling " << ruling.at("id") << ": " << ruling.at("kind").get<std::string>()
              << '\n';
  return 0;
}

int rule_here(config::Options const& options, RuleRequest const& asked) {
  auto const ruling = api::parse_ruling_request(to_body(asked).dump(), options.fleets);
  if (!ruling) {
    std::string text;
    for (auto const& error : ruling.error())
      text += (text.empty() ? "" : "; ") + error.field + ": " + error.detail;
    return complain("rule", text);
  }
  auto store = service::open_store(options);
  if (!store)
    return complain("rule", store.error().message + " (for a running service, use --server)");
  auto const given = report::give_ruling(*store, *ruling, SystemClock{}.now());
  if (!given) return complain("rule", given.error().message);
  return print_ruling(api::json_of(*given), asked.as_json);
}

int rule_there(std::string const& url, std::string const& token_file, RuleRequest const& asked) {
  auto const server = Server::at(url, token_file);
  if (!server) return complain("rule", server.error().message);
  auto const given = server->post("/api/v1/rulings", to_body(asked));
  if (!given) return complain("rule", given.error().message);
  return print_ruling(*given, asked.as_json);
}

/// The options of `rule`.
struct RuleFlags {
  RuleRequest request;
  std::string server;
  std::string token_file;
};

constexpr auto rule_example =
    R"($ torchwatch rule accept --incident 1 --who ada --why 'pays for itself'
ruling 1: accept)";

}  // namespace

void add_rule(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto const flags = std::make_shared<RuleFlags>();
  auto& request = flags->request;
  auto* const rule = app.add_subcommand(
      "rule", "Stores your decision about an incident or a series, with your name and reason.");
  rule->add_option("kind", request.kind, "accept, false_alarm, mute or unmute")->required();
  rule->add_option("--incident", request.incident, "Incident to accept or to mark as false alarm");
  rule->add_option(
      "--fleet", request.fleet, "Fleet of the series to accept, mute or unmute; default: all");
  rule->add_option(
      "--benchmark",
      request.benchmark,
      "Benchmark to accept, mute or unmute, such as test_train[dlrm-cpu-eager]; default: all");
  rule->add_option("--metric", request.metric, "Metric to accept, mute or unmute; default: all");
  rule->add_option("--who", request.who, "Your name")->required();
  rule->add_option("--why", request.why, "Your reason")->required();
  rule->add_option("--until", request.until, "End of a mute: 2026-12-31, or with T00:00:00Z");
  auto* const server = rule->add_option(
      "--server", flags->server, "Store it in the service at http(s)://HOST:PORT or unix:/PATH");
  auto* const token =
      rule->add_option("--token-file", flags->token_file, "File with the token for --server");
  server->needs(token);
  token->needs(server);
  rule->add_flag("--json", request.as_json, "Print JSON");
  add_example(*rule, rule_example);
  rule->callback([flags, &invocation, &chosen] {
    chosen = [flags, &invocation] {
      if (!flags->server.empty())
        return rule_there(flags->server, flags->token_file, flags->request);
      auto const options = load_options(invocation);
      return options ? rule_here(*options, flags->request) : int{could_not_run};
    };
  });
}

}  // namespace torchwatch::cli
