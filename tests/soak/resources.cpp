#include "tests/soak/resources.h"

#include <fstream>
#include <iterator>

#include <unistd.h>

namespace torchwatch::soak {
namespace fs = std::filesystem;

namespace {

std::int64_t resident_bytes() {
  std::int64_t all = 0;
  std::int64_t resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

/// The count includes the directory that is read.
std::size_t open_descriptors() {
  fs::directory_iterator const all{"/proc/self/fd"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

Resources resources_now(std::size_t day, fs::path const& database) {
  Resources now;
  now.day = day;
  now.database_bytes = static_cast<std::int64_t>(fs::file_size(database));
  now.memory_bytes = resident_bytes();
  now.descriptors = open_descriptors();
  return now;
}

}  // namespace torchwatch::soak
