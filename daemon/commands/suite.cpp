#include <algorithm>
#include <array>
#include <iostream>
#include <set>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "daemon/async/run.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/progress.h"
#include "runner/child_process.h"

namespace torchwatch::commands {
namespace {

namespace asio = boost::asio;
using nlohmann::ordered_json;

/// MLPerf's models with PyTorch, as the suite has them.
constexpr std::array mlperf{
    "resnet50", "detectron2_maskrcnn_r_50_fpn", "hf_Bert_large", "dlrm", "speech_transformer"};

int complain(std::string const& message) {
  std::cerr << "torchwatch suite: " << message << '\n';
  return could_not_run;
}

// JSON takes anything for a value, errors too, so it has to be said what is meant.
Result<ordered_json> answered(ordered_json answer) {
  return {boost::system::in_place_value, std::move(answer)};
}

Result<ordered_json> failed(Error error) {
  return {boost::system::in_place_error, std::move(error)};
}

/// The worker's answer to `arguments`: its last line, after those that tell how far it is.
asio::awaitable<Result<ordered_json>> ask_worker(std::string worker,
                                                 std::vector<std::string> arguments) {
  auto const executor = co_await asio::this_coro::executor;
  runner::Command command;
  command.argv = {worker};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  auto started = runner::ChildProcess::start(executor, std::move(command));
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
  co_return failed({ErrorCode::unavailable,
                    worker + ": " + runner::describe(status) + ", " +
                        (first_line.empty() ? "without a word" : "\"" + first_line + "\"")});
}

Result<ordered_json> ask(std::string const& worker, std::vector<std::string> arguments) {
  asio::io_context loop{1};
  return run_until_signal(loop, ask_worker(worker, std::move(arguments)));
}

/// "train, eval", and their batches in that order.
std::pair<std::string, std::string> tests_of(ordered_json const& model) {
  std::string tests;
  std::string batches;
  for (auto const* const test : {"train", "eval"}) {
    auto const batch = model.at("batch").at("full").at(test).get<std::int64_t>();
    if (batch == 0) continue;
    tests += (tests.empty() ? "" : ", ") + std::string{test};
    batches += (batches.empty() ? "" : ", ") + std::to_string(batch);
  }
  return {tests, batches};
}

void print_models(ordered_json const& models) {
  constexpr auto row = "{:<34} {:<22} {:<21} {:<11} {:>12} {:>14}\n";
  std::cout << fmt::format(row, "model", "domain", "task", "tests", "batch", "parameters");
  for (auto const& model : models) {
    auto const [tests, batches] = tests_of(model);
    std::cout << fmt::format(row,
                             model.at("name").get<std::string>(),
                             model.at("domain").get<std::string>(),
                             model.at("task").get<std::string>(),
                             tests,
                             batches,
                             model.at("parameters").get<std::int64_t>());
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

std::size_t count_operators(ordered_json const& covered, std::function<bool(std::string)> counts) {
  std::set<std::string> operators;
  for (auto const& [model, names] : covered.items()) {
    if (!counts(model)) continue;
    for (auto const& name : names)
      operators.insert(name.get<std::string>());
  }
  return operators.size();
}

bool is_in_mlperf(std::string const& model) {
  return std::ranges::find(mlperf, model) != mlperf.end();
}

ordered_json summarise(ordered_json const& covered) {
  auto const& models = covered.at("models");
  auto const all = count_operators(models, [](auto const&) { return true; });
  auto const subset = count_operators(models, is_in_mlperf);
  ordered_json summary;
  summary["pytorch_version"] = covered.at("pytorch_version");
  summary["operators"] = all;
  summary["mlperf"]["models"] = mlperf;
  summary["mlperf"]["operators"] = subset;
  summary["ratio"] = subset == 0 ? 0 : static_cast<double>(all) / static_cast<double>(subset);
  summary["models"] = models;
  return summary;
}

void print_coverage(ordered_json const& summary) {
  constexpr auto row = "{:<34} {:>9} {:>9}  {}\n";
  auto const& models = summary.at("models");
  std::map<std::string, int> users;
  for (auto const& [model, names] : models.items())
    for (auto const& name : names)
      ++users[name.get<std::string>()];
  std::cout << fmt::format(row, "model", "operators", "only here", "for example");
  for (auto const& [model, names] : models.items()) {
    std::vector<std::string> own;
    for (auto const& name : names)
      if (users.at(name.get<std::string>()) == 1) own.push_back(name.get<std::string>());
    std::cout << fmt::format(row, model, names.size(), own.size(), own.empty() ? "" : own.front());
  }
  std::cout << fmt::format("{} operators, {:.2f} times the {} of MLPerf's models\n",
                           summary.at("operators").get<int>(),
                           summary.at("ratio").get<double>(),
                           summary.at("mlperf").at("operators").get<int>());
}

}  // namespace

int suite_list(std::string const& worker, bool as_json) {
  auto const models = ask(worker, {"--sizes"});
  if (!models) return complain(models.error().message);
  if (as_json)
    std::cout << models->dump(2) << '\n';
  else
    print_models(*models);
  return nothing_found;
}

int suite_parameters(std::string const& worker, std::string const& model, bool as_json) {
  auto const description = ask(worker, {"--parameters", model});
  if (!description) return complain(description.error().message);
  if (as_json)
    std::cout << description->dump(2) << '\n';
  else
    print_tensors(*description);
  return nothing_found;
}

int suite_coverage(std::string const& worker, bool as_json) {
  auto const covered = ask(worker, {"--coverage"});
  if (!covered) return complain(covered.error().message);
  auto const summary = summarise(*covered);
  if (as_json)
    std::cout << summary.dump(2) << '\n';
  else
    print_coverage(summary);
  return nothing_found;
}

}  // namespace torchwatch::commands
