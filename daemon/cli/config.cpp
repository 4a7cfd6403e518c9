#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "config/load.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/config_check.h"

namespace torchwatch::cli {
namespace {

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

void add_config(CLI::App& app, Place const& place, Chosen& chosen) {
  auto* const config = app.add_subcommand("config", "Check, show or describe a configuration");
  config->require_subcommand(1);
  auto const question = std::make_shared<ConfigQuestion>();
  auto* const check = config->add_subcommand(
      "check", "Say what is wrong with a file, or with what it relies on, if anything");
  check->add_option("file", question->file, "Configuration file")->required();
  check->add_flag("--offline", question->is_offline, "Look at the file alone");
  check->add_flag("--json", question->as_json, "Print JSON");
  check->callback([question, &place, &chosen] {
    chosen = [question, &place] {
      return check_config(*question, place);
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
