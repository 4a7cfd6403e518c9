#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "config/load.h"
#include "daemon/cli/commands.h"

namespace torchwatch::cli {
namespace {

int config_check(std::string const& file) {
  auto const options = config::load(file);
  if (!options) {
    std::cerr << options.error().message << '\n';
    return could_not_run;
  }
  std::cout << file << ": good\n";
  return 0;
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

void add_config(CLI::App& app, Chosen& chosen) {
  auto* const config = app.add_subcommand("config", "Check, show or describe a configuration");
  config->require_subcommand(1);
  auto const file = std::make_shared<std::string>();
  auto* const check = config->add_subcommand("check", "Say what is wrong with a file, if anything");
  check->add_option("file", *file, "Configuration file")->required();
  check->callback([file, &chosen] {
    chosen = [file] {
      return config_check(*file);
    };
  });
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
