#include "tests/fetch/archive_writer.h"

#include <algorithm>
#include <stdexcept>

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

namespace torchwatch::fetch {
namespace {

/// Throws the library's error message, which can be missing.
[[noreturn]] void fail(archive* writer) {
  auto const* const words = archive_error_string(writer);
  throw std::runtime_error(words == nullptr ? "the archive cannot be written" : words);
}

}  // namespace

void ArchiveWriter::Free::operator()(archive* writer) const {
  archive_write_free(writer);
}

void ArchiveWriter::Free::operator()(archive_entry* entry) const {
  archive_entry_free(entry);
}

ArchiveWriter::ArchiveWriter(std::filesystem::path const& file, Format format)
    : writer_{archive_write_new()} {
  if (format == Format::zip) {
    archive_write_set_format_zip(writer_.get());
  } else {
    archive_write_set_format_pax_restricted(writer_.get());
    archive_write_add_filter_zstd(writer_.get());
  }
  if (archive_write_open_filename(writer_.get(), file.c_str()) != ARCHIVE_OK) fail(writer_.get());
}

void ArchiveWriter::add_file(std::string const& path,
                             std::string const& content,
                             bool is_executable) {
  auto const entry = entry_of(path, S_IFREG);
  archive_entry_set_perm(entry.get(), is_executable ? 0755 : 0644);
  archive_entry_set_size(entry.get(), static_cast<std::int64_t>(content.size()));
  put(entry.get());
  archive_write_data(writer_.get(), content.data(), content.size());
}

void ArchiveWriter::add_directory(std::string const& path) {
  auto const entry = entry_of(path, S_IFDIR);
  put(entry.get());
}

void ArchiveWriter::add_link(std::string const& path, std::string const& target) {
  auto const entry = entry_of(path, S_IFLNK);
  archive_entry_set_symlink(entry.get(), target.c_str());
  put(entry.get());
}

void ArchiveWriter::add_hard_link(std::string const& path, std::string const& target) {
  auto const entry = entry_of(path, S_IFREG);
  archive_entry_set_hardlink(entry.get(), target.c_str());
  put(entry.get());
}

void ArchiveWriter::add_special(std::string const& path, unsigned type) {
  auto const entry = entry_of(path, type);
  put(entry.get());
}

void ArchiveWriter::add_zeros(std::string const& path, std::int64_t size) {
  auto const entry = entry_of(path, S_IFREG);
  archive_entry_set_size(entry.get(), size);
  put(entry.get());
  std::string const zeros(1 << 20, '\0');
  for (std::int64_t left = size; left > 0;) {
    auto const piece = std::min<std::int64_t>(left, static_cast<std::int64_t>(zeros.size()));
    archive_write_data(writer_.get(), zeros.data(), static_cast<std::size_t>(piece));
    left -= piece;
  }
}

void ArchiveWriter::close() {
  if (archive_write_close(writer_.get()) != ARCHIVE_OK) fail(writer_.get());
}

std::unique_ptr<archive_entry, ArchiveWriter::Free> ArchiveWriter::entry_of(std::string const& path,
                                                                            unsigned type) const {
  std::unique_ptr<archive_entry, Free> entry{archive_entry_new()};
  archive_entry_set_pathname(entry.get(), path.c_str());
  archive_entry_set_filetype(entry.get(), type);
  archive_entry_set_perm(entry.get(), 0755);
  archive_entry_set_size(entry.get(), 0);
  return entry;
}

void ArchiveWriter::put(archive_entry* entry) {
  if (archive_write_header(writer_.get(), entry) != ARCHIVE_OK) fail(writer_.get());
}

}  // namespace torchwatch::fetch
