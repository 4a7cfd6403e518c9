#include <iostream>

#include "daemon/api/json.h"
#include "daemon/api/ruling_request.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/open_store.h"
#include "daemon/commands/server.h"
#include "daemon/ruling.h"

namespace torchwatch::commands {
namespace {

int complain(std::string const& message) {
  std::cerr << "torchwatch rule: " << message << '\n';
  return could_not_run;
}

nlohmann::ordered_json to_body(RuleRequest const& asked) {
  nlohmann::ordered_json body{{"kind", asked.kind}, {"who", asked.who}, {"why", asked.why}};
  if (asked.incident) body["incident"] = *asked.incident;
  if (!asked.fleet.empty()) body["fleet"] = asked.fleet;
  if (!asked.benchmark.empty()) body["benchmark"] = asked.benchmark;
  if (!asked.metric.empty()) body["metric"] = asked.metric;
  if (!asked.until.empty()) body["until"] = asked.until;
  return body;
}

int conclude(nlohmann::ordered_json const& ruling, bool as_json) {
  if (as_json)
    std::cout << ruling.dump(2) << '\n';
  else
    std::cout << "ruling " << ruling.at("id") << ": " << ruling.at("kind").get<std::string>()
              << '\n';
  return 0;
}

}  // namespace

int rule_here(config::Options const& options, RuleRequest const& asked) {
  auto const ruling = api::parse_ruling_request(to_body(asked).dump(), options.fleets);
  if (!ruling) {
    std::string text;
    for (auto const& error : ruling.error())
      text += (text.empty() ? "" : "; ") + error.field + ": " + error.detail;
    return complain(text);
  }
  auto store = open_store(options);
  if (!store) return complain(store.error().message + " (ask the running service: --server)");
  auto const given = give_ruling(*store, *ruling, SystemClock{}.now());
  if (!given) return complain(given.error().message);
  return conclude(api::json_of(*given), asked.as_json);
}

int rule_there(std::string const& url, std::string const& token_file, RuleRequest const& asked) {
  auto const server = Server::at(url, token_file);
  if (!server) return complain(server.error().message);
  auto const given = server->post("/api/v1/rulings", to_body(asked));
  if (!given) return complain(given.error().message);
  return conclude(*given, asked.as_json);
}

}  // namespace torchwatch::commands
