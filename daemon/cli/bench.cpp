#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "config/suites.h"
#include "daemon/cli/bench_request.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/measure_now.h"
#include "daemon/cli/metric_columns.h"
#include "daemon/cli/terminal.h"
#include "daemon/measure/gpu_slots.h"
#include "daemon/measure/job.h"
#include "storage/domain/words.h"

namespace torchwatch::cli {
namespace {

namespace asio = boost::asio;

asio::awaitable<std::vector<JobOutcome>> measure_all(measure::Slot& slot,
                                                     config::Options const& options,
                                                     Build const& build,
                                                     BenchRequest const& request) {
  std::vector<JobOutcome> outcomes;
  for (auto const& benchmark : request.benchmarks) {
    auto const title =
        fmt::format("{}/{} {}", outcomes.size() + 1, request.benchmarks.size(), name_of(benchmark));
    print_progress(title);
    auto job = job_now(options, build, request, benchmark);
    outcomes.push_back(co_await measure_now(slot, std::move(job), title));
  }
  print_fleeting_progress("");
  co_return outcomes;
}

nlohmann::ordered_json operators_in(JobOutcome const& outcome) {
  auto operators = nlohmann::ordered_json::array();
  for (auto const& [name, calls, ms, bytes] : outcome.profile)
    operators.push_back({{"name", name}, {"calls", calls}, {"ms", ms}, {"bytes", bytes}});
  return operators;
}

nlohmann::ordered_json to_json(std::vector<JobOutcome> const& outcomes) {
  auto results = nlohmann::ordered_json::array();
  for (auto const& outcome : outcomes) {
    nlohmann::ordered_json result;
    result["benchmark"] = name_of(outcome.key.benchmark);
    if (!outcome.ok())
      result["error"] = {{"code", to_string(*outcome.error_code)}, {"text", outcome.error}};
    for (auto const& [metric, value] : outcome.values) {
      result["metrics"][std::string{to_string(metric)}] = {{"value", value.value},
                                                           {"unit", unit_of(metric)},
                                                           {"better", words::better(metric)},
                                                           {"samples", value.samples},
                                                           {"outliers", value.outliers}};
    }
    result["accounts"] = outcome.accounts;
    if (!outcome.profile.empty()) result["operators"] = operators_in(outcome);
    result["pytorch_version"] = outcome.version;
    result["fingerprint"] = nlohmann::ordered_json::parse(outcome.fingerprint);
    result["seconds"] = outcome.seconds;
    results.push_back(std::move(result));
  }
  return results;
}

/// Returns the columns for the metrics that at least one benchmark has.
std::vector<MetricColumn> columns_for(std::vector<JobOutcome> const& outcomes) {
  std::set<Metric> metrics;
  for (auto const& outcome : outcomes)
    for (auto const& [metric, value] : outcome.values)
      metrics.insert(metric);
  return value_columns(std::move(metrics));
}

/// Returns the cells of one benchmark; "-" for a metric that it does not have.
std::string cells_of(JobOutcome const& outcome, std::vector<MetricColumn> const& columns) {
  std::string cells;
  for (auto const& column : columns) {
    auto const value = outcome.values.find(column.metric);
    bool const is_known = value != outcome.values.end();
    cells += cell_of(column, is_known ? value_text(column, value->second.value) : "-");
  }
  return cells;
}

void print_table(std::vector<JobOutcome> const& outcomes) {
  auto const columns = columns_for(outcomes);
  std::cout << fmt::format("{:<42}{} {:>8}\n", "benchmark", headings_of(columns), "s");
  for (auto const& outcome : outcomes) {
    auto const name = name_of(outcome.key.benchmark);
    if (outcome.ok())
      std::cout << fmt::format(
          "{:<42}{} {:>8.1f}\n", name, cells_of(outcome, columns), outcome.seconds);
    else
      std::cout << fmt::format(
          "{:<42} {}: {}\n", name, to_string(*outcome.error_code), outcome.error);
  }
}

/// Prints the operators that take most time, without the operators that they call.
void print_operators(JobOutcome const& outcome) {
  constexpr std::size_t most_rows = 12;
  constexpr auto row = "  {:<44} {:>9} {:>10} {:>13}\n";
  auto operators = outcome.profile;
  std::ranges::stable_sort(operators, std::ranges::greater{}, &OperatorCost::ms);
  if (operators.size() > most_rows) operators.resize(most_rows);
  std::cout << '\n' << name_of(outcome.key.benchmark) << '\n';
  std::cout << fmt::format(row, "operator", "calls", "ms", "allocated KiB");
  for (auto const& [name, calls, ms, bytes] : operators)
    std::cout << fmt::format(row,
                             name,
                             fmt::format("{:g}", calls),
                             fmt::format("{:.3f}", ms),
                             fmt::format("{:.1f}", bytes / 1024));
  for (auto const* const account :
       {"gpu_active_share", "gpu_data_movement_share", "gpu_idle_share", "tflops"})
    if (auto const found = outcome.accounts.find(account); found != outcome.accounts.end())
      std::cout << fmt::format("  {:<44} {:>9.3f}\n", account, found->second);
  if (auto const events = outcome.accounts.find("gpu_trace_events");
      events != outcome.accounts.end() && events->second == 0)
    std::cout << "  the GPU was not traced: PyTorch found no libcupti\n";
}

int run_bench(config::Options const& options,
              Invocation const& invocation,
              BenchRequest const& request) {
  auto const measured = run_now(options, invocation, request, measure_all);
  if (!measured) return complain("bench", measured.error().message);
  auto const& outcomes = *measured;
  if (request.as_json)
    std::cout << to_json(outcomes).dump(2) << '\n';
  else
    print_table(outcomes);
  if (!request.as_json && request.profile)
    for (auto const& outcome : outcomes)
      if (outcome.ok()) print_operators(outcome);
  bool const all_ok =
      std::ranges::all_of(outcomes, [](JobOutcome const& outcome) { return outcome.ok(); });
  return all_ok ? 0 : could_not_run;
}

/// The options of `bench`.
struct BenchFlags {
  /// A suite of the configuration. Empty: the native suite, without a configuration.
  std::string suite_name;
  std::vector<std::string> benchmarks;
  std::vector<std::string> models;
  std::string device = "cpu";
  bool smoke = false;
  bool finds_batch = false;
  bool is_isolated = true;
  config::MeasureOptions measure;
  config::SuiteOptions suite;
  BenchRequest request;
};

std::map<std::string, config::Precision> const precisions{{"fp32", config::Precision::fp32},
                                                          {"fp16", config::Precision::fp16},
                                                          {"bf16", config::Precision::bf16},
                                                          {"amp", config::Precision::amp}};

std::map<std::string, config::Tf32> const tf32_words{
    {"default", config::Tf32::as_pytorch}, {"on", config::Tf32::on}, {"off", config::Tf32::off}};

/// Returns the request of the options. A search for a batch size measures inference only.
BenchRequest to_request(BenchFlags const& flags, Device device) {
  auto request = flags.request;
  request.benchmarks = to_benchmarks(flags.benchmarks);
  if (!request.benchmarks.empty() && flags.models.empty()) return request;
  auto suite = flags.suite;
  if (!flags.models.empty()) suite.models = flags.models;
  if (flags.finds_batch) suite.tests = {Test::eval};
  auto const more = measure::benchmarks_of(suite, device);
  request.benchmarks.insert(request.benchmarks.end(), more.begin(), more.end());
  return request;
}

/// Returns the first fleet that runs the suite, for one runner on this or its host. The
/// configuration has been checked to have one, except for the native suite.
config::FleetOptions fleet_that_runs(config::Options const& options,
                                     config::SuiteOptions const& suite) {
  auto const found = std::ranges::find_if(
      options.fleets, [&suite](config::FleetOptions const& fleet) { return runs(fleet, suite); });
  return found == options.fleets.end() ? options.fleets.front() : *found;
}

/// Returns the chosen benchmarks of a suite. Fails with invalid_argument when it has none of them.
Result<std::vector<Benchmark>> chosen_benchmarks(BenchFlags const& flags,
                                                 config::SuiteOptions const& suite,
                                                 Device device) {
  auto benchmarks = measure::benchmarks_of(suite, device);
  std::erase_if(benchmarks, [&flags](Benchmark const& benchmark) {
    bool const has_models = !flags.models.empty();
    bool const has_names = !flags.benchmarks.empty();
    return (has_models && std::ranges::count(flags.models, benchmark.model) == 0) ||
           (has_names && std::ranges::count(flags.benchmarks, name_of(benchmark)) == 0);
  });
  if (benchmarks.empty())
    return Error{
        ErrorCode::invalid_argument,
        "suite " + suite.name + ": found none of the models or benchmarks that were named"};
  return benchmarks;
}

/// Measures a suite of the configuration, with its settings, on the first fleet that runs it.
int bench_suite(Invocation const& invocation, BenchFlags const& flags) {
  auto options = load_checked(invocation.config_file);
  if (!options) {
    std::cerr << options.error().message << '\n';
    return could_not_run;
  }
  fill_worker(*options, invocation.executable);
  auto const suite = config::find_suite(*options, flags.suite_name);
  if (!suite) return complain("bench", invocation.config_file + ": " + suite.error().message);
  options->fleets = {fleet_that_runs(*options, **suite)};
  auto const gpus = measure::find_gpus(options->fleets);
  if (!gpus) return complain("bench", gpus.error().message);
  auto& fleet = options->fleets.front();
  if (!flags.is_isolated) fleet.isolation = config::IsolationWish::none;
  auto benchmarks = chosen_benchmarks(flags, **suite, fleet.device);
  if (!benchmarks) return complain("bench", benchmarks.error().message);
  auto request = flags.request;
  request.benchmarks = std::move(*benchmarks);
  return run_bench(*options, invocation, request);
}

/// `--suite` takes these settings from the configuration.
constexpr std::array settings_of_configuration{"--device",
                                               "--backend",
                                               "--files",
                                               "--precision",
                                               "--tf32",
                                               "--smoke",
                                               "--runs",
                                               "--threads",
                                               "--timeout",
                                               "--batch",
                                               "--find-batch",
                                               "--worker"};

void add_configured_suite(CLI::App& bench, BenchFlags& flags) {
  auto* const suite = bench.add_option(
      "--suite", flags.suite_name, "Measure this suite of the configuration (--config)");
  for (auto const* const setting : settings_of_configuration)
    suite->excludes(bench.get_option(setting));
}

void add_suite_flags(CLI::App& bench, BenchFlags& flags) {
  bench
      .add_option(
          "--benchmark", flags.benchmarks, "Measure only these benchmarks, by TorchBench's name")
      ->check(parsed_by(parse_benchmark, benchmark_form));
  bench.add_option("--model", flags.models, "Measure only these models, train and eval");
  bench.add_option("--device", flags.device, "Device: cpu or cuda")
      ->check(parsed_by(parse_device, "cpu or cuda"))
      ->capture_default_str();
  bench.add_option("--backend", flags.suite.backend, "Backend: eager, script or aoti")
      ->check(CLI::IsMember({"eager", "script", "aoti"}))
      ->capture_default_str();
  bench.add_option("--files", flags.suite.files, "Directory of models for script and aoti")
      ->check(CLI::ExistingDirectory)
      ->transform(absolute_path);
  bench.add_option("--precision", flags.suite.precision, "Precision: fp32, fp16, bf16 or amp")
      ->transform(CLI::CheckedTransformer(precisions, CLI::ignore_case));
  bench
      .add_option("--tf32", flags.suite.tf32, "TF32 for fp32 products on CUDA: default, on or off")
      ->transform(CLI::CheckedTransformer(tf32_words, CLI::ignore_case));
  bench.add_flag("--smoke", flags.smoke, "Reduce batch, resolution, width and depth");
}

void add_measure_flags(CLI::App& bench, BenchFlags& flags) {
  bench.add_option("--runs", flags.measure.runs, "Timed runs of each benchmark")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  bench.add_option("--threads", flags.measure.threads, "Threads within an operator")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  bench
      .add_option_function<int>(
          "--timeout",
          [&flags](int seconds) { flags.measure.timeout = std::chrono::seconds{seconds}; },
          "Seconds after which a worker is stopped")
      ->check(CLI::Range(1, 86400))
      ->default_str(std::to_string(flags.measure.timeout.count()));
  auto* const batch =
      bench
          .add_option(
              "--batch", flags.request.batch, "Samples per iteration; the model's own by default")
          ->check(CLI::PositiveNumber);
  bench
      .add_flag("--find-batch",
                flags.finds_batch,
                "Find the batch at which each model infers most samples per second")
      ->excludes(batch);
  bench.add_option("--worker", flags.measure.worker, "Worker to run")
      ->check(CLI::ExistingFile)
      ->transform(absolute_path);
  bench.add_flag("--profile", flags.request.profile, "Also print the cost of each operator");
}

constexpr auto bench_example =
    R"($ torchwatch bench --smoke --model resnet18
benchmark                                    latency ms    cmem MiB    gmem MiB  leak B/iter        s
test_train[resnet18-cpu-eager]                   10.049       15.70           -            0      0.6
test_eval[resnet18-cpu-eager]                     3.538        4.59           -            0      0.4)";

}  // namespace

void add_bench(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto const flags = std::make_shared<BenchFlags>();
  auto* const bench =
      app.add_subcommand("bench",
                         "Measures a build now, without a database. Needs a configuration only "
                         "for --suite.");
  bench->add_option("--prefix", flags->request.prefix, "Directory of the build, with build.json")
      ->check(CLI::ExistingDirectory);
  add_suite_flags(*bench, *flags);
  add_measure_flags(*bench, *flags);
  add_configured_suite(*bench, *flags);
  bench->add_flag("!--no-isolation", flags->is_isolated, "Run workers without a sandbox");
  bench->add_flag("--json", flags->request.as_json, "Print JSON");
  add_example(*bench, bench_example);
  bench->callback([flags, &invocation, &chosen] {
    chosen = [flags, &invocation] {
      set_up_log(config::LogLevel::warning);
      if (!flags->suite_name.empty()) return bench_suite(invocation, *flags);
      config::Options options;
      options.measure = flags->measure;
      options.suite = flags->suite;
      options.suite.scale = flags->smoke ? config::Scale::smoke : config::Scale::full;
      fill_worker(options, invocation.executable);
      auto const device = parse_device(flags->device).value();
      options.fleets.front().device = device;
      if (!flags->is_isolated) options.fleets.front().isolation = config::IsolationWish::none;
      auto const request = to_request(*flags, device);
      return flags->finds_batch ? find_batch(options, invocation, request)
                                : run_bench(options, invocation, request);
    };
  });
}

}  // namespace torchwatch::cli
