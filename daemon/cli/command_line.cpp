#include "daemon/cli/command_line.h"

#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "config/load.h"
#include "config/suites.h"
#include "daemon/http/proxy.h"
#include "daemon/measure/gpu_slots.h"
#include "daemon/measure/job.h"
#include "storage/base/printable.h"

namespace torchwatch::cli {

namespace {

/// Escapes control characters in log lines, which can hold texts of other people.
class PrintableLines final : public spdlog::formatter {
 public:
  void format(spdlog::details::log_msg const& message, spdlog::memory_buf_t& line) override {
    auto const text = printable({message.payload.data(), message.payload.size()});
    auto shown = message;
    shown.payload = text;
    pattern_.format(shown, line);
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<PrintableLines>();
  }

 private:
  spdlog::pattern_formatter pattern_{"%Y-%m-%dT%H:%M:%S.%e %l %v"};
};

/// Returns the error of a command line that ends where `app` needs a subcommand. `extras` are the
/// words that are not known.
std::string text_of_missing_command(CLI::App const& app, std::vector<std::string> const& extras) {
  bool const is_misspelt = !extras.empty() && !extras.front().starts_with('-');
  std::string text = "torchwatch: found ";
  text += is_misspelt ? "command \"" + printable(extras.front()) + "\"" : "no command";
  std::string separator = ", allowed are ";
  for (auto const* const command : app.get_subcommands({})) {
    text += separator + command->get_name();
    separator = ", ";
  }
  return text + "\nRun with --help for more information.\n";
}

std::string text_of_failure(CLI::App const* app, CLI::Error const& error) {
  auto const* last = app;  // "suite" of "torchwatch suite"
  while (!last->get_subcommands().empty())
    last = last->get_subcommands().front();
  bool const lacks_command =
      error.get_name() == "RequiredError" && last->get_require_subcommand_min() > 0;
  return lacks_command ? text_of_missing_command(*last, app->remaining(true))
                       : CLI::FailureMessage::simple(app, error);
}

}  // namespace

void set_up_log(config::LogLevel level) {
  auto const log = spdlog::stderr_logger_mt("torchwatch");
  log->set_formatter(std::make_unique<PrintableLines>());
  spdlog::set_default_logger(log);
  set_log_level(level);
}

void set_log_level(config::LogLevel level) {
  auto const log = spdlog::default_logger();
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
}

void fill_worker(config::Options& options, std::string const& executable) {
  std::filesystem::path const program{executable};
  if (options.measure.worker.empty())
    options.measure.worker =
        std::filesystem::path{program}.replace_filename("torchwatch-worker").string();
  for (auto& suite : options.suites)
    if (!suite.command.empty())
      suite.worker = std::filesystem::path{program}.replace_filename("torchwatch-command").string();
}

Result<config::Options> load_checked(std::string const& file) {
  auto options = config::load(file);
  if (!options) return options;
  auto const differ = measure::check_suites_differ(*options);
  if (!differ) return within(file, differ.error());
  auto const declared = config::declare_metrics(*options);
  if (!declared) return within(file, declared.error());
  return options;
}

std::optional<config::Options> load_options(Invocation const& invocation) {
  auto options = load_checked(invocation.config_file);
  if (!options) {
    std::cerr << options.error().message << '\n';
    return std::nullopt;
  }
  fill_worker(*options, invocation.executable);
  http::use_proxy(options->proxy);
  set_up_log(options->log.level);
  return std::move(*options);
}

std::optional<config::Options> load_measuring_options(Invocation const& invocation) {
  auto options = load_options(invocation);
  if (!options) return std::nullopt;
  auto const found = measure::find_gpus(options->fleets);
  if (found) return options;
  std::cerr << invocation.config_file << ": " << found.error().message << '\n';
  return std::nullopt;
}

Result<config::Options> load_again(Invocation const& invocation) {
  auto options = load_checked(invocation.config_file);
  if (!options) return options;
  fill_worker(*options, invocation.executable);
  auto const found = measure::find_gpus(options->fleets);
  if (!found) return within(invocation.config_file, found.error());
  return options;
}

int complain(std::string_view command, std::string_view message) {
  std::cerr << "torchwatch " << command << ": " << printable_lines(message) << '\n';
  return could_not_run;
}

void set_failure_message(CLI::App& app) {
  app.failure_message(text_of_failure);
}

void add_example(CLI::App& command, std::string_view example) {
  std::string text = "Example:\n  ";
  for (char const character : example) {
    text += character;
    if (character == '\n') text += "  ";
  }
  command.footer(text);
}

std::string absolute_path(std::string const& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

std::vector<Benchmark> to_benchmarks(std::vector<std::string> const& names) {
  std::vector<Benchmark> benchmarks;
  for (auto const& name : names)
    benchmarks.push_back(parse_benchmark(name).value());
  return benchmarks;
}

}  // namespace torchwatch::cli
