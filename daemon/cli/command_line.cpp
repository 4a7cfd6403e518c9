#include "daemon/cli/command_line.h"

#include <filesystem>
#include <iostream>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "config/load.h"

namespace torchwatch::cli {

void set_up_log(config::LogLevel level) {
  auto const log = spdlog::stderr_logger_st("torchwatch");
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  switch (level) {
    case config::LogLevel::debug:
      log->set_level(spdlog::level::debug);
      break;
    case config::LogLevel::info:
      log->set_level(spdlog::level::info);
      break;
    case config::LogLevel::warning:
      log->set_level(spdlog::level::warn);
      break;
    case config::LogLevel::error:
      log->set_level(spdlog::level::err);
      break;
  }
  spdlog::set_default_logger(log);
}

void fill_worker(config::Options& options, std::string const& executable) {
  if (options.measure.worker.empty())
    options.measure.worker =
        std::filesystem::path{executable}.replace_filename("torchwatch-worker").string();
}

std::optional<config::Options> load_options(Place const& place) {
  auto options = config::load(place.config_file);
  if (!options) {
    std::cerr << options.error().message << '\n';
    return std::nullopt;
  }
  fill_worker(*options, place.executable);
  set_up_log(options->log.level);
  return std::move(*options);
}

int complain(std::string_view command, std::string_view message) {
  std::cerr << "torchwatch " << command << ": " << message << '\n';
  return could_not_run;
}

std::vector<Benchmark> to_benchmarks(std::vector<std::string> const& names) {
  std::vector<Benchmark> benchmarks;
  for (auto const& name : names)
    benchmarks.push_back(parse_benchmark(name).value());
  return benchmarks;
}

}  // namespace torchwatch::cli
