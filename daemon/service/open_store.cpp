#include "daemon/service/open_store.h"

#include <filesystem>

namespace torchwatch::service {

std::string store_file(config::Options const& options) {
  return (std::filesystem::path{options.state_dir} / "torchwatch.sqlite").string();
}

Result<storage::Store> open_store(config::Options const& options) {
  std::error_code problem;
  std::filesystem::create_directories(options.state_dir, problem);
  if (problem) {
    return Error{ErrorCode::unavailable,
                 "state_dir " + options.state_dir + ": " + problem.message()};
  }
  return storage::Store::open(store_file(options));
}

}  // namespace torchwatch::service
