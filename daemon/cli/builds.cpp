#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "daemon/api/build_request.h"
#include "daemon/api/json.h"
#include "daemon/async/run_until_signal.h"
#include "daemon/cli/api_client.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/remote.h"
#include "daemon/cli/terminal.h"
#include "daemon/service/open_store.h"
#include "daemon/service/service.h"

namespace torchwatch::cli {
namespace {

using builds::BuildAction;
using nlohmann::ordered_json;

/// The options of `builds` and its subcommands.
struct BuildsFlags {
  std::optional<BuildAction> action;  ///< nothing: list
  std::string build;
  std::string who;
  std::string why;
  std::string server;
  std::string token_file;
  bool as_json = false;
};

ordered_json body_of(BuildsFlags const& flags) {
  ordered_json body{{"action", builds::to_string(*flags.action)}};
  if (!flags.build.empty()) body["build"] = flags.build;
  if (!flags.who.empty()) body["who"] = flags.who;
  if (!flags.why.empty()) body["why"] = flags.why;
  return body;
}

/// Returns a time to the minute: "2026-01-02 03:04" for "2026-01-02T03:04:05Z".
std::string minute_of(std::string const& time) {
  auto const date = time.substr(0, 10);
  return date + " " + time.substr(11, 5);
}

Row row_of_build(ordered_json const& build) {
  auto const users = build.at("in_use_by").get<std::vector<std::string>>();
  return {build.at("name").get<std::string>(),
          builds::size_text(build.at("bytes").get<std::int64_t>()),
          minute_of(build.at("made_at").get<std::string>()),
          minute_of(build.at("used_at").get<std::string>()),
          users.empty() ? "-" : fmt::format("{}", fmt::join(users, ", "))};
}

void print_builds(ordered_json const& builds) {
  std::vector<Row> rows{{"build", "size", "made (UTC)", "last measured", "in use by"}};
  std::int64_t bytes = 0;
  for (auto const& build : builds) {
    rows.push_back(row_of_build(build));
    bytes += build.at("bytes").get<std::int64_t>();
  }
  print_rows(rows);
  std::cout << builds.size() << (builds.size() == 1 ? " build, " : " builds, ")
            << builds::size_text(bytes) << '\n';
}

int print_list(ordered_json const& builds, bool as_json) {
  if (as_json)
    std::cout << builds.dump(2) << '\n';
  else
    print_builds(builds);
  return 0;
}

int print_done(ordered_json const& answer, BuildsFlags const& flags) {
  if (flags.as_json) {
    std::cout << answer.dump(2) << '\n';
    return 0;
  }
  for (auto const& build : answer.at("builds"))
    std::cout << answer.at("action").get<std::string>() << "  "
              << build.at("name").get<std::string>() << "  "
              << builds::size_text(build.at("bytes").get<std::int64_t>()) << '\n';
  if (!answer.at("builds").empty()) return 0;
  std::cout << (*flags.action == BuildAction::fetch
                    ? "will be fetched; the log of the service reports when it is done"
                    : "nothing to remove")
            << '\n';
  return 0;
}

int list(BuildsFlags const& flags, Invocation const& invocation) {
  auto const answers = ApiClient::of(flags.server, flags.token_file, invocation);
  if (!answers) return complain("builds", answers.error().message);
  auto const builds = answers->get_all("/api/v1/builds");
  if (!builds) return complain("builds", builds.error().message);
  return print_list(*builds, flags.as_json);
}

int request_there(BuildsFlags const& flags) {
  auto const server = Server::at(flags.server, flags.token_file);
  if (!server) return complain("builds", server.error().message);
  auto const answer = server->post("/api/v1/builds", body_of(flags));
  if (!answer) return complain("builds", answer.error().message);
  return print_done(*answer, flags);
}

/// Carries out the request in the configured database. Downloads a build to fetch at once.
Result<std::vector<KeptBuild>> carry_out_here(config::Options const& options,
                                              Invocation const& invocation,
                                              builds::BuildRequest const& request,
                                              storage::Store& store) {
  SystemClock const clock;
  boost::asio::io_context loop{1};
  service::Service service{loop.get_executor(), options, invocation.executable, store, clock};
  auto& parts = service.parts;
  auto done = builds::carry_out(request, parts.kept, store, clock.now());
  if (!done || request.action != BuildAction::fetch || !done->empty()) return done;
  auto came = async::run_until_signal(loop, parts.wanted_builds.bring());
  if (came.empty())
    return Error{ErrorCode::unavailable, "the build was not fetched; the log has the reason"};
  return came;
}

int request_here(config::Options const& options,
                 Invocation const& invocation,
                 BuildsFlags const& flags) {
  auto const request = api::parse_build_request(body_of(flags).dump());
  if (!request)
    return complain("builds",
                    request.error().front().field + ": " + request.error().front().detail);
  auto store = service::open_store(options);
  if (!store)
    return complain("builds", store.error().message + " (for a running service, use --server)");
  auto const done = carry_out_here(options, invocation, *request, *store);
  if (!done) return complain("builds", done.error().message);
  ordered_json answer{{"action", builds::to_string(request->action)},
                      {"builds", ordered_json::array()}};
  for (auto const& build : *done)
    answer["builds"].push_back(api::json_of(build));
  return print_done(answer, flags);
}

/// A subcommand of `builds` that changes something.
struct Verb {
  BuildAction action;
  char const* help;
  char const* example;
};

constexpr auto builds_example = R"($ torchwatch builds
build                                       size       made (UTC)        last measured     in use by
...
f91d3b482f77a7ffe73e05497bb945af1efd812f-1  251.6 MiB  2026-11-23 17:37  2026-11-23 17:37  ...incident 1
...)";

constexpr std::array verbs{
    Verb{BuildAction::fetch,
         "Brings back the build of a nightly, and pins it.",
         R"($ torchwatch builds fetch 2025-09-02 --who ada --why 'asked in the forum'
fetch  f91d3b482f77a7ffe73e05497bb945af1efd812f-1  251.6 MiB)"},
    Verb{
        BuildAction::pin,
        "Pins a build: keeps it, even over quota.",
        R"($ torchwatch builds pin f91d3b482f77a7ffe73e05497bb945af1efd812f-1 --who ada --why release
pin  f91d3b482f77a7ffe73e05497bb945af1efd812f-1  251.6 MiB)"},
    Verb{BuildAction::unpin,
         "Ends a pin: the build can be removed like others.",
         R"($ torchwatch builds unpin f91d3b482f77a7ffe73e05497bb945af1efd812f-1
unpin  f91d3b482f77a7ffe73e05497bb945af1efd812f-1  251.6 MiB)"},
    Verb{BuildAction::remove,
         "Removes a build that is not in use.",
         R"($ torchwatch builds remove 7f0b8fd8661286437b172c79b8f632cd0981373e-1
remove  7f0b8fd8661286437b172c79b8f632cd0981373e-1  251.6 MiB)"},
    Verb{BuildAction::prune,
         "Removes unused builds now, until quota and free disk space are kept.",
         R"($ torchwatch builds prune
nothing to remove)"},
};

}  // namespace

void add_builds(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto const flags = std::make_shared<BuildsFlags>();
  auto* const builds = app.add_subcommand(
      "builds", "Lists the kept builds and their users, or fetches, pins or removes builds.");
  builds->require_subcommand(0, 1);
  auto const run = [flags, &invocation] {
    if (!flags->action) return list(*flags, invocation);
    if (!flags->server.empty()) return request_there(*flags);
    auto const options = load_options(invocation);
    return options ? request_here(*options, invocation, *flags) : int{could_not_run};
  };
  auto const add_common = [flags](CLI::App* command) {
    command->add_option(
        "--server", flags->server, "Use the service at http(s)://HOST:PORT or unix:/PATH");
    command->add_option(
        "--token-file", flags->token_file, "File with the token, to change something");
    command->add_flag("--json", flags->as_json, "Print JSON");
  };
  add_common(builds);
  builds->callback([&chosen, run] { chosen = run; });
  auto* const listing = builds->add_subcommand("list", "Lists the kept builds and their users.");
  add_common(listing);
  add_example(*listing, builds_example);
  for (auto const& [action, help, its_example] : verbs) {
    auto* const verb = builds->add_subcommand(std::string{builds::to_string(action)}, help);
    add_common(verb);
    add_example(*verb, its_example);
    if (action != BuildAction::prune)
      verb->add_option("build",
                       flags->build,
                       "Name of the build, as the list has it; fetch also takes a date")
          ->required();
    if (action == BuildAction::pin || action == BuildAction::fetch) {
      verb->add_option("--who", flags->who, "Your name")->required();
      verb->add_option("--why", flags->why, "Your reason")->required();
    }
    verb->callback([flags, action = action] { flags->action = action; });
  }
  add_example(*builds, builds_example);
}

}  // namespace torchwatch::cli
