#include <iostream>

#include <nlohmann/json.hpp>

#include "config/load.h"
#include "daemon/commands/commands.h"

namespace torchwatch::commands {

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

}  // namespace torchwatch::commands
