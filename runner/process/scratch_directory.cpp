#include "runner/process/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace torchwatch::process {

Result<ScratchDirectory> ScratchDirectory::make() {
  std::error_code error;
  auto path = (std::filesystem::temp_directory_path(error) / "torchwatch-XXXXXX").string();
  if (!error && ::mkdtemp(path.data()) != nullptr) return ScratchDirectory{std::move(path)};
  if (!error) error = {errno, std::generic_category()};
  return Error{ErrorCode::internal, "make a directory " + path + ": " + error.message()};
}

Result<> ScratchDirectory::link(std::string const& name, std::string const& target) const {
  std::error_code error;
  std::filesystem::create_symlink(target, path_ + '/' + name, error);
  if (!error) return {};
  return Error{ErrorCode::internal,
               "link " + path_ + '/' + name + " to " + target + ": " + error.message()};
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace torchwatch::process
