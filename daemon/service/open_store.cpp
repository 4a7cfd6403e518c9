#include "daemon/service/open_store.h"

#include <algorithm>
#include <filesystem>

namespace torchwatch::service {

std::filesystem::path store_file_in(std::filesystem::path const& state_dir) {
  return state_dir / "torchwatch.sqlite";
}

std::string store_file(config::Options const& options) {
  return store_file_in(options.state_dir).string();
}

namespace {

/// True when the database was emptied: the service would start from nothing, without the builds and
/// reports next to it.
bool is_emptied(std::filesystem::path const& file) {
  std::error_code missing;
  if (std::filesystem::file_size(file, missing) != 0 || missing) return false;
  auto const name = file.filename().string();
  std::filesystem::directory_iterator const neighbours{file.parent_path(), missing};
  return std::ranges::any_of(neighbours, [&](std::filesystem::directory_entry const& entry) {
    return !entry.path().filename().string().starts_with(name);
  });
}

}  // namespace

Result<storage::Store> open_store(config::Options const& options) {
  std::error_code problem;
  std::filesystem::create_directories(options.state_dir, problem);
  if (problem) {
    return Error{ErrorCode::unavailable,
                 "state_dir " + options.state_dir + ": " + problem.message()};
  }
  if (is_emptied(store_file(options))) {
    return Error{ErrorCode::corrupt,
                 store_file(options) +
                     ": empty, although builds or reports are next to it: restore a backup, or "
                     "remove it to start from nothing"};
  }
  return storage::Store::open(store_file(options));
}

}  // namespace torchwatch::service
