#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "fetch/validators.h"

namespace torchwatch::fetch {

/// A file during its download: FILE.part has the bytes, FILE.part.version their address and
/// version. A download that was killed can be resumed from them. Throws std::system_error when the
/// disk fails.
class PartialFile {
 public:
  explicit PartialFile(std::filesystem::path file);
  PartialFile(PartialFile const&) = delete;
  PartialFile& operator=(PartialFile const&) = delete;
  ~PartialFile();

  /// Returns the number of stored bytes of `url`. Returns 0 when they are of another address, or of
  /// a version without a range_condition().
  std::int64_t size_of(std::string const& url) const;

  /// Returns the server's name of the stored version for If-Range (RFC 9110, 13.1.5): a strong
  /// entity tag, or a date.
  std::string range_condition() const;

  Validators const& validators() const { return validators_; }

  /// The file with the bytes.
  std::filesystem::path const& path() const { return part_; }

  /// Opens the file, so that append() adds to the stored bytes.
  void go_on();
  /// Removes the stored bytes and starts a new version.
  void begin(std::string const& url, Validators validators);
  void append(std::span<char const> bytes);

  /// Renames it to the final name. Flushes it to the disk first, if it must survive a power
  /// failure.
  void finish(bool is_durable);
  /// Removes both files.
  void discard();

 private:
  void open(int flags);
  void close();

  std::filesystem::path file_;
  std::filesystem::path part_;
  std::filesystem::path version_;
  std::string url_;
  Validators validators_;
  int descriptor_ = -1;
};

}  // namespace torchwatch::fetch
