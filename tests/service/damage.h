#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/store.h"
#include "tests/temporary_folder.h"

namespace torchwatch::tests {

/// A closed database of several pages a table, without its seal, as a killed service leaves one.
inline void make_unsealed_store(std::filesystem::path const& file) {
  {
    auto store = storage::Store::open(file).value();
    for (int i = 0; i < 200; ++i)
      store.recipes().with(RecipeKind::program,
                           "recipe " + std::to_string(i) + std::string(200, 'x'));
  }
  std::filesystem::remove(file.string() + ".seal");
}

/// Changes one letter in an index, but not in its table. Whether a check finds it depends on the
/// kind of check.
inline void flip_a_byte_of_an_index(std::filesystem::path const& file) {
  std::int64_t root = 0;
  std::int64_t page_size = 0;
  {
    SQLite::Database database{file.string(), SQLite::OPEN_READONLY};
    root = database
               .execAndGet(
                   "SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = "
                   "'recipe' ORDER BY name LIMIT 1")
               .getInt64();
    page_size = database.execAndGet("PRAGMA page_size").getInt64();
  }
  auto bytes = text_of(file);
  auto const at = bytes.find("xxxx", static_cast<std::size_t>((root - 1) * page_size));
  bytes.at(at + 2) = 'y';
  std::ofstream{file, std::ios::binary} << bytes;
}

}  // namespace torchwatch::tests
