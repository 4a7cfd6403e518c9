#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "daemon/api/json.h"
#include "daemon/async/run_until_signal.h"
#include "daemon/cli/bisection_text.h"
#include "daemon/cli/check_result.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/service/changed_configuration.h"
#include "daemon/service/open_store.h"
#include "daemon/service/service.h"
#include "storage/base/printable.h"
#include "storage/domain/project.h"
#include "storage/domain/words.h"

namespace torchwatch::cli {
namespace {

api::Json to_json(Judgement const& judgement) {
  api::Json json;
  json["nightly"] = api::json_of(judgement.nightly);
  json["baseline"] = judgement.baseline ? api::json_of(*judgement.baseline) : nullptr;
  json["verdicts"] = api::Json::array();
  for (auto const& verdict : judgement.verdicts)
    json["verdicts"].push_back(api::json_of(verdict));
  json["incidents"] = api::Json::array();
  for (auto const& incident : judgement.incidents)
    json["incidents"].push_back(api::json_of(incident, project_url));
  json["alarms"] = api::Json::array();
  for (auto const& alarm : judgement.alarms)
    json["alarms"].push_back(api::json_of(alarm));
  json["not_judged"] = api::Json::array();
  for (auto const& series : judgement.not_judged)
    json["not_judged"].push_back(api::json_of(series));
  return json;
}

/// Returns the finding of a nightly without an incident.
std::string nothing_found_in(Judgement const& judgement) {
  if (!judgement.baseline) return "nothing: it has no baseline yet";
  if (judgement.baseline->commit == judgement.nightly.commit)
    return "nothing: its baseline has the same commit";
  return "nothing";
}

void print(IncidentStory const& story) {
  for (auto const& [series, comparison, muted] : story.incident.changes)
    std::cout << "found:     " << name_of(series) << "  "
              << words::figures(series.metric, comparison) << '\n';
  for (auto const& bisection : story.bisections)
    print_bisection(api::json_of(bisection, project_url));
  auto const& report = story.incident.report;
  std::cout << "report:    " << (report.empty() ? "when its bisection has ended" : report) << '\n';
}

void print(Judgement const& judgement) {
  auto const& nightly = judgement.nightly;
  std::cout << "nightly:   " << nightly.date << "  " << short_of(nightly.commit) << "  "
            << printable(nightly.version) << "  " << to_string(nightly.state);
  if (!nightly.failure.empty()) std::cout << ": " << printable(nightly.failure);
  std::cout << '\n';
  if (judgement.baseline) {
    std::cout << "baseline:  " << judgement.baseline->date << "  "
              << short_of(judgement.baseline->commit) << '\n';
  }
  for (auto const& alarm : judgement.alarms)
    std::cout << "alarm:     " << to_string(alarm.kind) << "  "
              << printable(alarm.subject.empty() ? alarm.detail
                                                 : alarm.subject + "  " + alarm.detail)
              << '\n';
  bool const has_failed = nightly.state == NightlyState::failed;
  for (auto const& series : judgement.not_judged)
    if (!has_failed) std::cout << "unjudged:  " << series.fleet << ": " << name_of(series) << '\n';
  for (auto const& story : judgement.incidents) {
    if (story.nightly.id != nightly.id)
      std::cout << "earlier:   " << story.nightly.date << "  " << short_of(story.nightly.commit)
                << '\n';
    print(story);
  }
  if (judgement.incidents.empty() && !has_failed)
    std::cout << "found:     " << nothing_found_in(judgement) << '\n';
}

/// True when the newest nightly is the one before, in the same state.
bool is_same_state(std::optional<Nightly> const& before, std::optional<Nightly> const& after) {
  return before && after && before->id == after->id && before->state == after->state;
}

/// Makes one pass, and runs all requested bisections to their end. Sends messages that failed
/// before.
boost::asio::awaitable<Result<>> pass_and_join(service::Service& service) {
  service.parts.sender.retry_now();
  auto const passed = co_await service.parts.pass();
  service.parts.queue.start();
  co_await service.parts.queue.join();
  co_return passed;
}

int run_check(config::Options const& options, Invocation const& invocation, bool as_json) {
  auto store = service::open_store(options);
  if (!store) return complain("check", store.error().message);
  auto const before = store->nightlies().newest();
  auto const judged_before = judged_nightlies(*store);
  SystemClock const clock;
  auto const adopted = service::adopt_configuration(*store, options, clock.now());
  if (!adopted) return complain("check", adopted.error().message);
  boost::asio::io_context loop{1};
  service::Service service{loop.get_executor(), options, invocation.executable, *store, clock};
  auto const passed = async::run_until_signal(
      loop, bisection::ending_bisections(service.parts.queue, pass_and_join(service)));

  // The feed has nothing to judge after the database, whose judgement comes from another feed.
  auto const& behind = service.parts.announcer.behind();
  bool const is_repeated = is_same_state(before, store->nightlies().newest());
  if (passed && is_repeated && !behind.empty()) return complain("check", behind);
  auto const judgement = newest_judgement(*store, options, judged_before, clock.now());
  if (judgement && as_json) std::cout << api::text_of(to_json(*judgement)) << std::endl;
  if (judgement && !as_json) print(*judgement);
  auto const result = result_of(passed, judgement, options.feed.path);
  return result.status == could_not_run ? complain("check", result.problem) : int{result.status};
}

constexpr auto check_example = R"($ torchwatch check
nightly:   2025-09-03  340bc50b898b  2.9.0a0+git340bc50  done
baseline:  2025-09-02  f91d3b482f77
found:     test_eval[dcgan-cpu-eager]_latency  ...
bisection 1: Culprit proved
  Culprit (proved against its parent): 769d8b297454... [CPU] Keep the memory format of convolutions ...
...
report:    state/reports/incident-1.md)";

}  // namespace

void add_check(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto const as_json = std::make_shared<bool>(false);
  auto* const check = app.add_subcommand(
      "check",
      "Makes one pass and judges the newest nightly. Exit status: 0 no incident, 1 an incident, 2 "
      "failed, or did not judge every series.");
  check->add_flag("--json", *as_json, "Print JSON");
  add_example(*check, check_example);
  check->callback([as_json, &invocation, &chosen] {
    chosen = [as_json, &invocation] {
      auto const options = load_measuring_options(invocation);
      return options ? run_check(*options, invocation, *as_json) : int{could_not_run};
    };
  });
}

}  // namespace torchwatch::cli
