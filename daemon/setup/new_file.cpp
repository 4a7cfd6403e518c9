#include "daemon/setup/new_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace torchwatch::setup {

/// Unlike a rename, a link never replaces a file.
Result<> write_new_file(std::filesystem::path const& file, std::string const& text) {
  auto const failed = [&](int problem) {
    if (problem == EEXIST)
      return Error{ErrorCode::refused, file.string() + ": exists already, and is left as it is"};
    return Error{
        ErrorCode::unavailable,
        file.string() + ": cannot be written: " + std::generic_category().message(problem)};
  };
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, ignored)))
    return failed(EEXIST);
  auto unfinished = file.string() + ".XXXXXX";
  int const descriptor = ::mkstemp(unfinished.data());
  if (descriptor < 0) return failed(errno);
  constexpr mode_t for_everyone_to_read = 0644;
  ::fchmod(descriptor, for_everyone_to_read);
  ::close(descriptor);
  std::ofstream stream{unfinished};
  stream << text;
  stream.close();
  int problem = stream ? 0 : EIO;
  if (problem == 0 && ::link(unfinished.c_str(), file.c_str()) != 0) problem = errno;
  ::unlink(unfinished.c_str());
  if (problem != 0) return failed(problem);
  return {};
}

}  // namespace torchwatch::setup
