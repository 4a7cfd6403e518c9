#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "fetch/validators.h"

namespace torchwatch::fetch {

/// A file that is being downloaded: FILE.part, and beside it, in FILE.part.version, of which
/// version of which address its bytes are. Outlives a kill: its bytes can be gone on from. Throws
/// std::system_error when the disk fails.
class PartialFile {
 public:
  explicit PartialFile(std::filesystem::path file);
  PartialFile(PartialFile const&) = delete;
  PartialFile& operator=(PartialFile const&) = delete;
  ~PartialFile();

  /// How much of `url` is there; 0 when it is of another address, or of a version that no server
  /// could be asked for.
  std::int64_t size_of(std::string const& url) const;

  /// By what the server knows the version that is there (If-Range, RFC 9110, 13.1.5): an entity tag
  /// that is not weak, or a date.
  std::string range_condition() const;

  Validators const& validators() const { return validators_; }

  /// Where its bytes are.
  std::filesystem::path const& path() const { return part_; }

  /// What follows is appended.
  void go_on();
  /// What follows is the beginning of this version; what was there is gone.
  void begin(std::string const& url, Validators validators);
  void append(std::span<char const> bytes);

  /// Gives it its name; flushed to the disk before, if it has to outlive a power cut.
  void finish(bool is_durable);
  /// Nothing is left of it.
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
