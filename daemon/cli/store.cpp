#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "config/load.h"
#include "daemon/builds/pruning.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/table.h"
#include "daemon/service/open_store.h"

namespace torchwatch::cli {
namespace {

using nlohmann::ordered_json;

void print_room(std::vector<storage::TableRoom> const& rooms, std::string const& file) {
  std::vector<Row> rows{{"table", "rows", "room"}};
  std::int64_t bytes = 0;
  for (auto const& room : rooms) {
    rows.push_back({room.table, std::to_string(room.rows), builds::size_text(room.bytes)});
    bytes += room.bytes;
  }
  print_rows(rows);
  std::cout << builds::size_text(bytes) << " in " << file << '\n';
}

ordered_json json_of(std::vector<storage::TableRoom> const& rooms) {
  auto json = ordered_json::array();
  for (auto const& room : rooms)
    json.push_back({{"table", room.table}, {"rows", room.rows}, {"bytes", room.bytes}});
  return json;
}

int run_store(Place const& place, bool as_json) {
  auto const options = config::load(place.config_file);
  if (!options) return complain("store", options.error().message);
  auto const file = service::store_file(*options);
  auto store = storage::Store::open_reader(file);
  if (!store) return complain("store", store.error().message);
  auto const rooms = store->room();
  if (as_json)
    std::cout << json_of(rooms).dump(2) << '\n';
  else
    print_room(rooms, file);
  return nothing_found;
}

}  // namespace

void add_store(CLI::App& app, Place const& place, Chosen& chosen) {
  auto const as_json = std::make_shared<bool>(false);
  auto* const store = app.add_subcommand("store", "Show what takes which room in the database");
  store->add_flag("--json", *as_json, "Print JSON");
  store->callback([as_json, &place, &chosen] {
    chosen = [as_json, &place] {
      return run_store(place, *as_json);
    };
  });
}

}  // namespace torchwatch::cli
