#include "daemon/cli/check_table.h"

#include <algorithm>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "storage/base/printable.h"

namespace torchwatch::cli {

bool are_good(std::vector<setup::Check> const& checks) {
  return std::ranges::all_of(checks, &setup::Check::is_good);
}

std::string table_of(std::vector<setup::Check> const& checks) {
  std::size_t width = 0;
  for (auto const& check : checks)
    width = std::max(width, check.what.size());
  std::string table;
  for (auto const& check : checks) {
    table += fmt::format("{:<{}}  {:<4}  {:>5.1f} s  {}\n",
                         check.what,
                         width,
                         check.is_good ? "good" : "bad",
                         check.seconds.count(),
                         printable(check.found));
  }
  return table;
}

nlohmann::ordered_json json_of(std::vector<setup::Check> const& checks) {
  nlohmann::ordered_json json;
  json["is_good"] = are_good(checks);
  json["checks"] = nlohmann::ordered_json::array();
  for (auto const& check : checks) {
    nlohmann::ordered_json one;
    one["what"] = check.what;
    one["is_good"] = check.is_good;
    one["found"] = check.found;
    one["seconds"] = check.seconds.count();
    json["checks"].push_back(std::move(one));
  }
  return json;
}

}  // namespace torchwatch::cli
