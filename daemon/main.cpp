#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/system/system_error.hpp>

#include "daemon/command_line.h"
#include "daemon/commands/commands.h"
#include "daemon/measuring.h"

// Each subcommand is one function of commands.h; here is only what a person may type. The flags of
// searches are in command_line_searches.cpp.
namespace torchwatch {
namespace {

namespace fs = std::filesystem;
constexpr int interrupted = 130;

/// What `bench` was given on the command line.
struct BenchFlags {
  std::vector<std::string> benchmarks;
  std::vector<std::string> models;
  std::string device = "cpu";
  bool smoke = false;
  bool finds_batch = false;
  config::MeasureOptions measure;
  config::SuiteOptions suite;
  commands::BenchRequest request;
};

std::map<std::string, config::Precision> const precisions{{"fp32", config::Precision::fp32},
                                                          {"fp16", config::Precision::fp16},
                                                          {"bf16", config::Precision::bf16},
                                                          {"amp", config::Precision::amp}};

/// What the flags ask for. Searching a batch size is about inference alone.
commands::BenchRequest to_request(BenchFlags const& flags, Device device) {
  auto request = flags.request;
  request.benchmarks = to_benchmarks(flags.benchmarks);
  if (!request.benchmarks.empty() && flags.models.empty()) return request;
  auto suite = flags.suite;
  if (!flags.models.empty()) suite.models = flags.models;
  if (flags.finds_batch) suite.tests = {Test::eval};
  auto const more = benchmarks_of(suite, device);
  request.benchmarks.insert(request.benchmarks.end(), more.begin(), more.end());
  return request;
}

void add_suite_flags(CLI::App& bench, BenchFlags& flags) {
  bench.add_option("--benchmark", flags.benchmarks, "Only these, by TorchBench's name")
      ->check(parsed_by(parse_benchmark, benchmark_form));
  bench.add_option("--model", flags.models, "Only these models, train and eval");
  bench.add_option("--device", flags.device, "cpu or cuda")
      ->check(parsed_by(parse_device, "cpu or cuda"))
      ->capture_default_str();
  bench.add_option("--backend", flags.suite.backend, "eager, script or aoti")
      ->check(CLI::IsMember({"eager", "script", "aoti"}))
      ->capture_default_str();
  bench
      .add_option("--files", flags.suite.files, "Directory of models of other backends than eager")
      ->check(CLI::ExistingDirectory);
  bench.add_option("--precision", flags.suite.precision, "fp32, fp16, bf16, or amp for a mixture")
      ->transform(CLI::CheckedTransformer(precisions, CLI::ignore_case));
  bench.add_flag("--tf32", flags.suite.tf32, "CUDA may round factors of fp32 products");
  bench.add_flag("--smoke", flags.smoke, "Small batches and depth");
}

void add_measure_flags(CLI::App& bench, BenchFlags& flags) {
  bench.add_option("--runs", flags.measure.runs, "Timed runs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  bench.add_option("--threads", flags.measure.threads, "Intra-operator threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  bench
      .add_option_function<int>(
          "--timeout",
          [&flags](int seconds) { flags.measure.timeout = std::chrono::seconds{seconds}; },
          "Seconds after which a worker is given up")
      ->check(CLI::Range(1, 86400))
      ->default_str(std::to_string(flags.measure.timeout.count()));
  auto* const batch = bench.add_option("--batch", flags.request.batch, "Samples in an iteration")
                          ->check(CLI::PositiveNumber);
  bench
      .add_flag("--find-batch",
                flags.finds_batch,
                "Look for the batch at which each model infers most samples a second")
      ->excludes(batch);
  bench.add_option("--worker", flags.measure.worker, "Worker executable")->check(CLI::ExistingFile);
  bench.add_flag("--profile", flags.request.profile, "Also tell what each operator costs");
}

void add_bench(CLI::App& app, commands::Place const& place, std::function<int()>& chosen) {
  auto const flags = std::make_shared<BenchFlags>();
  auto* const bench = app.add_subcommand("bench", "Measure a build now; needs no configuration");
  bench->add_option("--prefix", flags->request.prefix, "Build: a directory with build.json")
      ->check(CLI::ExistingDirectory);
  add_suite_flags(*bench, *flags);
  add_measure_flags(*bench, *flags);
  bench->add_flag("--json", flags->request.as_json, "Print JSON");
  bench->callback([flags, &place, &chosen] {
    chosen = [flags, &place] {
      set_up_log(config::LogLevel::warning);
      config::Options options;
      options.measure = flags->measure;
      options.suite = flags->suite;
      options.suite.scale = flags->smoke ? config::Scale::smoke : config::Scale::full;
      fill_worker(options, place.executable);
      auto const device = parse_device(flags->device).value();
      options.fleets.front().device = device;
      auto const request = to_request(*flags, device);
      return flags->finds_batch ? commands::find_batch(options, place, request)
                                : commands::bench(options, place, request);
    };
  });
}

/// `torchwatch suite`: what the worker's models are.
void add_suite(CLI::App& app, commands::Place const& place, std::function<int()>& chosen) {
  struct Flags {
    config::Options options;
    std::string model;
    bool as_json = false;
  };

  auto const flags = std::make_shared<Flags>();
  auto* const suite = app.add_subcommand("suite", "Show the models that are measured");
  suite->require_subcommand(1);
  suite->add_option("--worker", flags->options.measure.worker, "Worker executable")
      ->check(CLI::ExistingFile);
  auto const add = [&](char const* name, char const* help, auto run) {
    auto* const command = suite->add_subcommand(name, help);
    command->add_flag("--json", flags->as_json, "Print JSON");
    command->callback([flags, run, &place, &chosen] {
      chosen = [flags, run, &place] {
        fill_worker(flags->options, place.executable);
        return run(flags->options.measure.worker, *flags);
      };
    });
    return command;
  };
  add("list", "Every model: domain, task, tests, batches, parameters", [](auto&, auto& given) {
    return commands::suite_list(given.as_json);
  });
  add("parameters",
      "Parameters and buffers of a model",
      [](auto& worker, auto& given) {
        return commands::suite_parameters(worker, given.model, given.as_json);
      })
      ->add_option("model", flags->model, "A name of the list")
      ->required();
  add("coverage", "Operators that the models dispatch", [](auto& worker, auto& given) {
    return commands::suite_coverage(worker, given.as_json);
  });
}

void add_compare(CLI::App& app, commands::Place const& place, std::function<int()>& chosen) {
  auto const request = std::make_shared<commands::CompareRequest>();
  auto* const compare =
      app.add_subcommand("compare", "Ratios of two sides over the suite, and their means");
  compare->add_option("first", request->first, "File of `bench --json`, or a fleet")->required();
  compare->add_option("second", request->second, "The same; its ratio to the first")->required();
  compare->add_flag("--json", request->as_json, "Print JSON");
  compare->callback([request, &place, &chosen] {
    chosen = [request, &place] {
      return commands::compare(*request, [&place] { return load_options(place); });
    };
  });
}

/// What `rule` was given on the command line.
struct RuleFlags {
  commands::RuleRequest request;
  std::string server;
  std::string token_file;
};

void add_rule(CLI::App& app, commands::Place const& place, std::function<int()>& chosen) {
  auto const flags = std::make_shared<RuleFlags>();
  auto& request = flags->request;
  auto* const rule = app.add_subcommand(
      "rule", "Say what you decided: accept, false_alarm, mute, unmute; kept with who and why");
  rule->add_option(
          "kind", request.kind, "accept or false_alarm an incident; accept, mute or unmute series")
      ->required();
  rule->add_option("--incident", request.incident, "Of accept and false_alarm");
  rule->add_option("--fleet", request.fleet, "Of accept, mute and unmute; any if missing");
  rule->add_option("--benchmark", request.benchmark, "The same, by TorchBench's name");
  rule->add_option("--metric", request.metric, "The same");
  rule->add_option("--who", request.who, "Your name")->required();
  rule->add_option("--why", request.why, "Your reason")->required();
  rule->add_option("--until", request.until, "End of a mute: 2026-12-31, or with T00:00:00Z");
  auto* const server =
      rule->add_option("--server", flags->server, "Tell the service at http://HOST:PORT");
  auto* const token =
      rule->add_option("--token-file", flags->token_file, "Bearer token for --server");
  server->needs(token);
  token->needs(server);
  rule->add_flag("--json", request.as_json, "Print JSON");
  rule->callback([flags, &place, &chosen] {
    chosen = [flags, &place] {
      if (!flags->server.empty())
        return commands::rule_there(flags->server, flags->token_file, flags->request);
      auto const options = load_options(place);
      return options ? commands::rule_here(*options, flags->request) : int{commands::could_not_run};
    };
  });
}

void add_config(CLI::App& app, std::function<int()>& chosen) {
  auto* const config = app.add_subcommand("config", "Check, show or describe a configuration");
  config->require_subcommand(1);
  auto const file = std::make_shared<std::string>();
  auto* const check = config->add_subcommand("check", "Say what is wrong with a file, if anything");
  check->add_option("file", *file, "Configuration file")->required();
  check->callback([file, &chosen] {
    chosen = [file] {
      return commands::config_check(*file);
    };
  });
  auto* const show = config->add_subcommand("show", "Print a file with all defaults filled in");
  show->add_option("file", *file, "Configuration file")->required();
  show->callback([file, &chosen] {
    chosen = [file] {
      return commands::config_show(*file);
    };
  });
  auto* const schema = config->add_subcommand("schema", "Print the JSON Schema");
  schema->callback([&chosen] { chosen = commands::config_schema; });
}

void add_watching(CLI::App& app, commands::Place const& place, std::function<int()>& chosen) {
  auto* const serve = app.add_subcommand("serve", "Watch for ever, and answer over HTTP");
  serve->callback([&] {
    chosen = [&place] {
      auto const options = load_options(place);
      return options ? commands::serve(*options, place) : int{commands::could_not_run};
    };
  });
  auto const as_json = std::make_shared<bool>(false);
  auto* const check = app.add_subcommand(
      "check", "Look once, judge the newest nightly, exit: 0 nothing, 1 an incident, 2 could not");
  check->add_flag("--json", *as_json, "Print JSON");
  check->callback([as_json, &place, &chosen] {
    chosen = [as_json, &place] {
      auto const options = load_options(place);
      return options ? commands::check(*options, place, *as_json) : int{commands::could_not_run};
    };
  });
  auto* const runner = app.add_subcommand("runner", "Measure for a service: speaks its protocol");
  auto const slot = std::make_shared<int>(0);
  runner->add_option("--slot", *slot, "Which of the fleet's slots it is")
      ->check(CLI::NonNegativeNumber);
  runner->callback([slot, &chosen] {
    chosen = [slot] {
      return commands::runner(*slot);
    };
  });
}

int run(int argc, char** argv) {
  commands::Place place{fs::read_symlink("/proc/self/exe").string(), ""};
  std::function<int()> chosen;
  CLI::App app{"Watches PyTorch nightlies for performance regressions"};
  app.set_version_flag("--version", TORCHWATCH_VERSION);
  app.require_subcommand(1);
  app.add_option("--config", place.config_file, "Configuration file")
      ->envname("TORCHWATCH_CONFIG")
      ->default_val("/etc/torchwatch/torchwatch.json");
  add_watching(app, place, chosen);
  add_bench(app, place, chosen);
  add_suite(app, place, chosen);
  add_compare(app, place, chosen);
  add_searches(app, place, chosen);
  add_rule(app, place, chosen);
  add_config(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& problem) {
    return app.exit(problem) == 0 ? 0 : int{commands::could_not_run};
  }
  try {
    return chosen();
  } catch (boost::system::system_error const& problem) {
    if (problem.code() != boost::system::errc::operation_canceled) throw;
    std::cerr << "torchwatch: interrupted\n";
    return interrupted;
  }
}

}  // namespace
}  // namespace torchwatch

int main(int argc, char** argv) {
  try {
    return torchwatch::run(argc, argv);
  } catch (std::exception const& problem) {
    std::cerr << "torchwatch: " << problem.what() << '\n';
    return torchwatch::commands::could_not_run;
  }
}
