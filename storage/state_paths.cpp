#include "storage/state_paths.h"

#include <filesystem>
#include <string_view>

#include "storage/database.h"

namespace torchwatch::storage {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view in_state = "./";

}  // namespace

std::string stored_path(Database& database, std::string const& path) {
  if (!path.starts_with('/')) return path;
  auto const inside = fs::path{path}.lexically_normal().lexically_relative(database.directory());
  bool const is_inside = !inside.empty() && *inside.begin() != ".." && *inside.begin() != ".";
  return is_inside ? std::string{in_state} + inside.string() : path;
}

std::string path_of(Database& database, std::string const& stored) {
  if (!stored.starts_with(in_state)) return stored;
  // Joined as text, since every row of a nightly has one and fs::path splits both into parts.
  auto path = database.directory().string();
  if (!path.ends_with('/')) path += '/';
  return path.append(stored, in_state.size());
}

}  // namespace torchwatch::storage
