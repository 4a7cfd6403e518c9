#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

struct archive;
struct archive_entry;

namespace torchwatch::fetch {

/// Makes archives for tests, the impossible ones too.
class ArchiveWriter {
 public:
  enum class Format { zip, tar_zst };

  ArchiveWriter(std::filesystem::path const& file, Format format);

  void add_file(std::string const& path, std::string const& content, bool is_executable = false);
  void add_directory(std::string const& path);
  void add_link(std::string const& path, std::string const& target);
  void add_hard_link(std::string const& path, std::string const& target);
  /// A character device, a FIFO and so on, as S_IFMT has them.
  void add_special(std::string const& path, unsigned type);
  /// So many zeros.
  void add_zeros(std::string const& path, std::int64_t size);

  /// Writes the end.
  void close();

 private:
  struct Free {
    void operator()(archive* writer) const;
    void operator()(archive_entry* entry) const;
  };

  std::unique_ptr<archive_entry, Free> entry_of(std::string const& path, unsigned type) const;
  void put(archive_entry* entry);

  std::unique_ptr<archive, Free> writer_;
};

}  // namespace torchwatch::fetch
