#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace torchwatch::soak {

/// The resources that a service uses at one time.
struct Resources {
  std::size_t day = 0;
  std::int64_t database_bytes = 0;
  std::int64_t memory_bytes = 0;  ///< resident memory of this process
  std::size_t descriptors = 0;    ///< open files of this process
};

/// Reads the resources of this process and of its database.
Resources resources_now(std::size_t day, std::filesystem::path const& database);

}  // namespace torchwatch::soak
