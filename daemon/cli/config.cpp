#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "config/load.h"
#include "daemon/api/json.h"
#include "daemon/async/run_until_signal.h"
#include "daemon/cli/check_table.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/terminal.h"
#include "daemon/http/proxy.h"
#include "daemon/setup/check.h"

namespace torchwatch::cli {
namespace {

/// How `config check` is asked.
struct ConfigQuestion {
  std::string file;
  bool is_offline = false;  ///< the file alone
  bool as_json = false;
};

int print_checks(std::vector<setup::Check> const& checks, bool as_json) {
  if (as_json)
    std::cout << api::text_of(json_of(checks)) << std::endl;
  else
    std::cout << table_of(checks) << std::flush;
  return are_good(checks) ? nothing_found : could_not_run;
}

setup::Check reading_of(std::string const& file, Result<config::Options> const& options) {
  setup::Check check;
  check.what = "configuration";
  check.is_good = options.has_value();
  check.found = options ? file : options.error().message;
  return check;
}

/// Reads the file and, unless that is all, holds it against the world: prints a line a check.
/// Returns the exit status: 0 when all is good, could_not_run otherwise.
int check_config(ConfigQuestion const& question, Invocation const& invocation) {
  auto const begun = std::chrono::steady_clock::now();
  auto options = config::load(question.file);
  std::vector<setup::Check> checks{reading_of(question.file, options)};
  checks.front().seconds = std::chrono::steady_clock::now() - begun;
  if (!options) {
    std::cerr << options.error().message << '\n';
    if (question.as_json) print_checks(checks, true);
    return could_not_run;
  }
  if (question.is_offline) {
    if (question.as_json) return print_checks(checks, true);
    std::cout << question.file << ": good\n";
    return nothing_found;
  }
  fill_worker(*options, invocation.executable);
  http::use_proxy(options->proxy);
  set_up_log(config::LogLevel::warning);
  print_fleeting_progress("asking everything that " + question.file + " names");
  boost::asio::io_context loop{1};
  auto const found = async::run_until_signal(
      loop, setup::check_world(loop.get_executor(), *options, invocation.executable));
  print_fleeting_progress("");
  checks.insert(checks.end(), found.begin(), found.end());
  return print_checks(checks, question.as_json);
}

int config_show(std::string const& file) {
  auto const options = config::load(file);
  if (!options) {
    std::cerr << options.error().message << '\n';
    return could_not_run;
  }
  std::cout << config::show(*options).dump(2) << '\n';
  return 0;
}

int config_schema() {
  std::cout << config::schema().dump(2) << '\n';
  return 0;
}

}  // namespace

void add_config(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto* const config = app.add_subcommand("config", "Check, show or describe a configuration");
  config->require_subcommand(1);
  auto const question = std::make_shared<ConfigQuestion>();
  auto* const check = config->add_subcommand(
      "check", "Say what is wrong with a file, or with what it relies on, if anything");
  check->add_option("file", question->file, "Configuration file")->required();
  check->add_flag("--offline", question->is_offline, "Look at the file alone");
  check->add_flag("--json", question->as_json, "Print JSON");
  check->callback([question, &invocation, &chosen] {
    chosen = [question, &invocation] {
      return check_config(*question, invocation);
    };
  });
  auto const file = std::make_shared<std::string>();
  auto* const show = config->add_subcommand("show", "Print a file with all defaults filled in");
  show->add_option("file", *file, "Configuration file")->required();
  show->callback([file, &chosen] {
    chosen = [file] {
      return config_show(*file);
    };
  });
  auto* const schema = config->add_subcommand("schema", "Print the JSON Schema");
  schema->callback([&chosen] { chosen = config_schema; });
}

}  // namespace torchwatch::cli
