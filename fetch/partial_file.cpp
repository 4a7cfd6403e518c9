#include "fetch/partial_file.h"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;

fs::path with_suffix(fs::path path, char const* suffix) {
  return path += suffix;
}

[[noreturn]] void fail(std::string const& doing, fs::path const& path) {
  throw std::system_error{errno, std::system_category(), doing + " " + path.string()};
}

/// Flushes a directory to the disk, so a rename in it survives a power failure.
void flush_directory(fs::path const& directory) {
  int const descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail("open", directory);
  bool const is_flushed = ::fsync(descriptor) == 0;
  ::close(descriptor);
  if (!is_flushed) fail("flush", directory);
}

}  // namespace

PartialFile::PartialFile(fs::path file)
    : file_{fs::absolute(file)},
      part_{with_suffix(file_, ".part")},
      version_{with_suffix(file_, ".part.version")} {
  std::ifstream stream{version_};
  std::getline(stream, url_);
  std::getline(stream, validators_.etag);
  std::getline(stream, validators_.last_modified);
}

PartialFile::~PartialFile() {
  close();
}

std::int64_t PartialFile::size_of(std::string const& url) const {
  if (url != url_ || range_condition().empty()) return 0;
  std::error_code problem;
  auto const size = fs::file_size(part_, problem);
  return problem ? 0 : static_cast<std::int64_t>(size);
}

std::string PartialFile::range_condition() const {
  bool const is_strong = !validators_.etag.empty() && !validators_.etag.starts_with("W/");
  return is_strong ? validators_.etag : validators_.last_modified;
}

void PartialFile::go_on() {
  open(O_APPEND);
}

/// Removes the version file first, so a killed call leaves no bytes with a wrong version.
void PartialFile::begin(std::string const& url, Validators validators) {
  fs::remove(version_);
  open(O_TRUNC);
  url_ = url;
  validators_ = std::move(validators);
  std::ofstream stream{version_};
  stream << url_ << '\n' << validators_.etag << '\n' << validators_.last_modified << '\n';
  if (!stream.flush()) fail("write", version_);
}

void PartialFile::append(std::span<char const> bytes) {
  while (!bytes.empty()) {
    auto const written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) fail("write", part_);
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void PartialFile::finish(bool is_durable) {
  if (is_durable && ::fsync(descriptor_) != 0) fail("flush", part_);
  close();
  fs::rename(part_, file_);
  fs::remove(version_);
  if (is_durable) flush_directory(file_.parent_path());
}

void PartialFile::discard() {
  close();
  fs::remove(version_);
  fs::remove(part_);
}

void PartialFile::open(int flags) {
  close();
  descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
  if (descriptor_ < 0) fail("open", part_);
}

void PartialFile::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace torchwatch::fetch
