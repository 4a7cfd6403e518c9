#include "storage/base/flush.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace torchwatch {

Result<> flush_to_disk(std::filesystem::path const& path) {
  auto const opened = path.empty() ? std::filesystem::path{"."} : path;
  int const file = ::open(opened.c_str(), O_RDONLY | O_CLOEXEC);
  bool const is_flushed = file >= 0 && ::fsync(file) == 0;
  int const problem = errno;
  if (file >= 0) ::close(file);
  if (is_flushed) return {};
  return Error{ErrorCode::unavailable,
               opened.string() +
                   ": cannot be flushed to the disk: " + std::generic_category().message(problem)};
}

}  // namespace torchwatch
