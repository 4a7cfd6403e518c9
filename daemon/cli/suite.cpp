#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "daemon/async/run_until_signal.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/terminal.h"
#include "runner/catalogue/catalogue.h"
#include "runner/process/child_process.h"

namespace torchwatch::cli {
namespace {

namespace asio = boost::asio;
using nlohmann::ordered_json;

/// The models of MLPerf that use PyTorch, by their names in the suite.
constexpr std::array mlperf{
    "resnet50", "detectron2_maskrcnn_r_50_fpn", "hf_Bert_large", "dlrm", "speech_transformer"};

// JSON converts from anything, errors included, so the results are built in place.
Result<ordered_json> answered(ordered_json answer) {
  return {boost::system::in_place_value, std::move(answer)};
}

Result<ordered_json> failed(Error error) {
  return {boost::system::in_place_error, std::move(error)};
}

/// Runs the worker with `arguments`. Returns its reply, the line after its lines of progress.
asio::awaitable<Result<ordered_json>> ask_worker(std::string worker,
                                                 std::vector<std::string> arguments) {
  auto const executor = co_await asio::this_coro::executor;
  process::Command command;
  command.argv = {worker};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  auto started = process::ChildProcess::start(executor, std::move(command));
  if (!started) co_return failed(started.error());
  for (;;) {
    auto const line = co_await started->read_line();
    if (!line) break;
    auto answer = ordered_json::parse(*line, nullptr, false);
    if (answer.is_discarded()) break;
    if (!answer.is_object() || answer.value("type", "") != "progress") {
      print_fleeting_progress("");
      co_return answered(std::move(answer));
    }
    print_fleeting_progress(fmt::format("{}/{} {}",
                                        answer.at("done").get<int>() + 1,
                                        answer.at("total").get<int>(),
                                        answer.at("phase").get<std::string>()));
  }
  auto const status = co_await started->wait();
  auto const said = started->last_stderr();
  auto const first_line = said.substr(0, said.find('\n'));
  co_return failed(
      {ErrorCode::unavailable,
       worker + ": " + process::describe(status) + ", " +
           (first_line.empty() ? "without an error message" : "\"" + first_line + "\"")});
}

Result<ordered_json> ask(std::string const& worker, std::vector<std::string> arguments) {
  asio::io_context loop{1};
  return async::run_until_signal(loop, ask_worker(worker, std::move(arguments)));
}

/// Returns the tests of a model, "train, eval", and their batches in that order.
std::pair<std::string, std::string> tests_of(suite::Batch const& batch) {
  if (batch.train == 0) return {"eval", std::to_string(batch.eval)};
  if (batch.eval == 0) return {"train", std::to_string(batch.train)};
  return {"train, eval", fmt::format("{}, {}", batch.train, batch.eval)};
}

ordered_json to_json(suite::Batch const& batch) {
  return {{"train", batch.train}, {"eval", batch.eval}};
}

ordered_json to_json(std::vector<suite::Entry> const& models) {
  auto list = ordered_json::array();
  for (auto const& model : models)
    list.push_back({{"name", model.name},
                    {"domain", model.domain},
                    {"task", model.task},
                    {"batch", {{"full", to_json(model.full)}, {"smoke", to_json(model.smoke)}}},
                    {"parameters", model.parameters}});
  return list;
}

void print_models(std::vector<suite::Entry> const& models) {
  constexpr auto row = "{:<34} {:<22} {:<21} {:<11} {:>16} {:>14}\n";
  std::cout << fmt::format(row, "model", "domain", "task", "tests", "batch", "parameters");
  for (auto const& model : models) {
    auto const [tests, batches] = tests_of(model.full);
    std::cout << fmt::format(
        row, model.name, model.domain, model.task, tests, batches, model.parameters);
  }
  std::cout << fmt::format("{} models\n", models.size());
}

void print_tensors(ordered_json const& description) {
  constexpr auto row = "{:<60} {:<9} {:<8} {}\n";
  std::int64_t count = 0;
  std::cout << fmt::format(row, "name", "kind", "type", "shape");
  for (auto const* const kind : {"parameters", "buffers"}) {
    for (auto const& tensor : description.at(kind)) {
      std::int64_t numbers = 1;
      for (auto const& size : tensor.at("shape"))
        numbers *= size.get<std::int64_t>();
      if (kind == std::string_view{"parameters"}) count += numbers;
      std::cout << fmt::format(row,
                               tensor.at("name").get<std::string>(),
                               kind == std::string_view{"parameters"} ? "parameter" : "buffer",
                               tensor.at("type").get<std::string>(),
                               tensor.at("shape").dump());
    }
  }
  std::cout << fmt::format("{} numbers in parameters\n", count);
}

bool is_in_mlperf(std::string const& model) {
  return std::ranges::find(mlperf, model) != mlperf.end();
}

/// The operators of all models, and those of MLPerf's models.
struct Surface {
  std::set<std::string> all;
  std::set<std::string> mlperf;

  void add(std::string const& model, ordered_json const& names) {
    for (auto const& name : names) {
      all.insert(name.get<std::string>());
      if (is_in_mlperf(model)) mlperf.insert(name.get<std::string>());
    }
  }

  double ratio() const {
    return mlperf.empty() ? 0
                          : static_cast<double>(all.size()) / static_cast<double>(mlperf.size());
  }
};

ordered_json to_json(Surface const& surface) {
  return {{"operators", surface.all.size()},
          {"mlperf", surface.mlperf.size()},
          {"ratio", surface.ratio()}};
}

/// Counts the operators that models call by name ("called"), and these together with the ones that
/// operators call ("dispatched").
ordered_json summarise(ordered_json const& covered) {
  Surface called;
  Surface dispatched;
  for (auto const& [model, operators] : covered.at("models").items()) {
    called.add(model, operators.at("called"));
    dispatched.add(model, operators.at("called"));
    dispatched.add(model, operators.at("called_in_turn"));
  }
  ordered_json summary;
  summary["pytorch_version"] = covered.at("pytorch_version");
  summary["mlperf_models"] = mlperf;
  summary["called"] = to_json(called);
  summary["dispatched"] = to_json(dispatched);
  summary["models"] = covered.at("models");
  return summary;
}

/// Returns the waits of the host for a device, per iteration of train and of eval: "2 0".
std::string waits_of(ordered_json const& operators) {
  auto const waits = operators.value("waits", ordered_json::object());
  std::string text;
  for (auto const* const test : {"train", "eval"})
    text += fmt::format("{:>6}", waits.contains(test) ? waits.at(test).dump() : "-");
  return text;
}

void print_coverage(ordered_json const& summary) {
  constexpr auto row = "{:<34} {:>7} {:>11} {:>12} {:>9}  {}\n";
  auto const& models = summary.at("models");
  std::map<std::string, int> users;
  for (auto const& [model, operators] : models.items())
    for (auto const& name : operators.at("called"))
      ++users[name.get<std::string>()];
  std::cout << fmt::format(
      row, "model", "calls", "in turn", "waits (t, e)", "only here", "for example");
  for (auto const& [model, operators] : models.items()) {
    std::vector<std::string> own;
    for (auto const& name : operators.at("called"))
      if (users.at(name.get<std::string>()) == 1) own.push_back(name.get<std::string>());
    std::cout << fmt::format(row,
                             model,
                             operators.at("called").size(),
                             operators.at("called_in_turn").size(),
                             waits_of(operators),
                             own.size(),
                             own.empty() ? "" : own.front());
  }
  for (auto const* const kind : {"called", "dispatched"})
    std::cout << fmt::format("{} operators {}, {:.2f} times the {} of MLPerf's models\n",
                             summary.at(kind).at("operators").get<int>(),
                             kind,
                             summary.at(kind).at("ratio").get<double>(),
                             summary.at(kind).at("mlperf").get<int>());
}

int suite_list(bool as_json) {
  if (as_json)
    std::cout << to_json(suite::catalogue()).dump(2) << '\n';
  else
    print_models(suite::catalogue());
  return nothing_found;
}

int suite_parameters(std::string const& worker, std::string const& model, bool as_json) {
  auto const description = ask(worker, {"--parameters", model});
  if (!description) return complain("suite", description.error().message);
  if (as_json)
    std::cout << description->dump(2) << '\n';
  else
    print_tensors(*description);
  return nothing_found;
}

int suite_coverage(std::string const& worker, bool as_json) {
  auto const covered = ask(worker, {"--coverage"});
  if (!covered) return complain("suite", covered.error().message);
  auto const summary = summarise(*covered);
  if (as_json)
    std::cout << summary.dump(2) << '\n';
  else
    print_coverage(summary);
  return nothing_found;
}

constexpr auto suite_list_example = R"($ torchwatch suite list
model              domain            task                  tests            batch    parameters
alexnet            COMPUTER_VISION   CLASSIFICATION        train, eval   128, 128      61100840
...
84 models)";

constexpr auto suite_parameters_example = R"($ torchwatch suite parameters resnet18
name                                                         kind      type     shape
conv1.weight                                                 parameter Float    [64,3,7,7]
...)";

constexpr auto suite_coverage_example = R"($ torchwatch suite coverage
model                                calls     in turn waits (t, e) only here  for example
BERT_pytorch                            64          66      0     0         4  StdBackward0
...
366 operators called, 2.30 times the 159 of MLPerf's models
529 operators dispatched, 2.07 times the 255 of MLPerf's models)";

}  // namespace

/// Adds `torchwatch suite`, which shows the models of the worker, and tries suites.
void add_suite(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  struct Flags {
    config::Options options;
    std::string model;
    bool as_json = false;
  };

  auto const flags = std::make_shared<Flags>();
  auto* const suite =
      app.add_subcommand("suite", "Shows the models that torchwatch measures, and tries suites.");
  suite->require_subcommand(1);
  suite->add_option("--worker", flags->options.measure.worker, "Worker to run")
      ->check(CLI::ExistingFile);
  auto const add = [&](char const* name, char const* help, char const* example, auto run) {
    auto* const command = suite->add_subcommand(name, help);
    command->add_flag("--json", flags->as_json, "Print JSON");
    add_example(*command, example);
    command->callback([flags, run, &invocation, &chosen] {
      chosen = [flags, run, &invocation] {
        fill_worker(flags->options, invocation.executable);
        return run(flags->options.measure.worker, *flags);
      };
    });
    return command;
  };
  add("list",
      "Lists the models with domain, task, tests, batch sizes and number of parameters.",
      suite_list_example,
      [](auto&, auto& given) { return suite_list(given.as_json); });
  add("parameters",
      "Shows the parameters and buffers of a model.",
      suite_parameters_example,
      [](auto& worker, auto& given) {
        return suite_parameters(worker, given.model, given.as_json);
      })
      ->add_option("model", flags->model, "Name of a model")
      ->required();
  add("coverage",
      "Runs every model once, and shows the operators that they dispatch.",
      suite_coverage_example,
      [](auto& worker, auto& given) { return suite_coverage(worker, given.as_json); });
  add_suite_try(*suite, invocation, chosen);
  add_example(*suite, suite_list_example);
}

}  // namespace torchwatch::cli
