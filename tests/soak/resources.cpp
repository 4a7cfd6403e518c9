#include "tests/soak/resources.h"

#include <fstream>
#include <iterator>

#include <SQLiteCpp/SQLiteCpp.h>
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

/// The size includes pages that are still in the write-ahead log: they reach the file in batches.
std::int64_t bytes_of_database(fs::path const& file) {
  SQLite::Database database{file.string(), SQLite::OPEN_READONLY};
  return database.execAndGet("PRAGMA page_count").getInt64() *
         database.execAndGet("PRAGMA page_size").getInt64();
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
  now.memory_bytes = resident_bytes();
  now.descriptors = open_descriptors();
  now.database_bytes = bytes_of_database(database);
  return now;
}

}  // namespace torchwatch::soak
