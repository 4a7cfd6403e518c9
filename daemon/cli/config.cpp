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

/// The options of `config check`.
struct ConfigQuestion {
  std::string file;
  bool is_offline = false;  ///< check the file only
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

/// Checks the file and, unless offline, everything that it relies on. Prints one line per check.
/// Returns the exit status: 0 when all checks are good, could_not_run otherwise.
int check_config(ConfigQuestion const& question, Invocation const& invocation) {
  auto const begun = std::chrono::steady_clock::now();
  auto options = load_checked(question.file);
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
  print_fleeting_progress("checking everything that " + question.file + " relies on");
  boost::asio::io_context loop{1};
  auto const found = async::run_until_signal(
      loop, setup::check_world(loop.get_executor(), *options, invocation.executable));
  print_fleeting_progress("");
  checks.insert(checks.end(), found.begin(), found.end());
  return print_checks(checks, question.as_json);
}

int config_show(std::string const& file) {
  auto const options = load_checked(file);
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

constexpr auto config_check_example = R"($ torchwatch config check torchwatch.json
configuration    good    0.0 s  torchwatch.json
...
feed             good    0.1 s  ...
...)";

constexpr auto config_show_example = R"($ torchwatch config show torchwatch.json
{
  "state_dir": "...state",
  "feed": {
...)";

constexpr auto config_schema_example = R"($ torchwatch config schema
{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
...)";

}  // namespace

void add_config(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto* const config = app.add_subcommand("config", "Checks, shows or describes a configuration.");
  config->require_subcommand(1);
  auto const question = std::make_shared<ConfigQuestion>();
  auto* const check =
      config->add_subcommand("check", "Checks a configuration and everything that it relies on.");
  check->add_option("file", question->file, "Configuration file")->required();
  check->add_flag("--offline", question->is_offline, "Check the file only");
  check->add_flag("--json", question->as_json, "Print JSON");
  check->callback([question, &invocation, &chosen] {
    chosen = [question, &invocation] {
      return check_config(*question, invocation);
    };
  });
  auto const file = std::make_shared<std::string>();
  auto* const show = config->add_subcommand("show", "Prints a configuration with all defaults.");
  show->add_option("file", *file, "Configuration file")->required();
  show->callback([file, &chosen] {
    chosen = [file] {
      return config_show(*file);
    };
  });
  add_example(*show, config_show_example);
  auto* const schema = config->add_subcommand("schema", "Prints the JSON Schema, for editors.");
  schema->callback([&chosen] { chosen = config_schema; });
  add_example(*schema, config_schema_example);
  add_example(*check, config_check_example);
  add_example(*config, config_check_example);
}

}  // namespace torchwatch::cli
