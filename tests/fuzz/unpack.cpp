#include "fetch/unpack.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <sys/stat.h>

#include "tests/fetch/archive_writer.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"
#include "tests/temporary_folder.h"

namespace torchwatch::fuzz {
namespace {

namespace fs = std::filesystem;

/// Adds an entry from a line of text: "f PATH", "x PATH", "d PATH", "l PATH TARGET",
/// "h PATH TARGET", "p PATH".
void add_entry(fetch::ArchiveWriter& writer, std::string const& line) {
  std::istringstream words{line};
  std::string kind;
  std::string path;
  std::string target;
  words >> kind >> path >> target;
  if (path.empty()) return;
  if (kind == "f") writer.add_file(path, target);
  if (kind == "x") writer.add_file(path, target, true);
  if (kind == "d") writer.add_directory(path);
  if (kind == "l") writer.add_link(path, target);
  if (kind == "h") writer.add_hard_link(path, target);
  if (kind == "p") writer.add_special(path, S_IFIFO);
}

/// True for names that the archive library can write; it leaks on others. Inputs that are archives
/// cover those.
bool is_plain(std::string const& line) {
  return is_one_line(line) && std::ranges::all_of(line, [](char c) { return c > 0; });
}

/// Writes the entries. The archive ends at the first one that cannot be written.
void write_archive(fs::path const& file,
                   std::string_view entries,
                   fetch::ArchiveWriter::Format format) {
  fetch::ArchiveWriter writer{file, format};
  std::istringstream stream{std::string{entries}};
  try {
    for (std::string line; std::getline(stream, line);)
      if (is_plain(line)) add_entry(writer, line);
    writer.close();
  } catch (std::runtime_error const&) {
  }
}

bool is_below(fs::path const& path, fs::path const& directory) {
  auto const relative = path.lexically_relative(directory);
  return !relative.empty() && *relative.begin() != "..";
}

/// Checks that all entries are files, directories, or links that stay below the directory.
void check_tree(fs::path const& directory, fetch::Unpacked const& unpacked) {
  std::int64_t bytes = 0;
  for (auto const& entry : fs::recursive_directory_iterator{directory}) {
    auto const status = entry.symlink_status();
    if (fs::is_symlink(status)) {
      std::error_code circle;
      auto const place = fs::weakly_canonical(entry.path(), circle);
      require(circle || is_below(place, directory), "no link leads out of the directory");
      continue;
    }
    require(fs::is_directory(status) || fs::is_regular_file(status), "no special file is unpacked");
    if (fs::is_regular_file(status)) bytes += static_cast<std::int64_t>(entry.file_size());
  }
  require(bytes == unpacked.bytes, "the reported number of bytes is right");
}

/// Checks that the error blames the archive, because the disk is not at fault.
void check_refusal(Error const& error) {
  require(error.code == ErrorCode::refused || error.code == ErrorCode::corrupt,
          "an archive that does not unpack is refused or corrupt");
  require(is_one_line(error.message), "an error is one line");
}

}  // namespace

/// An archive, or "zip\n" or "tar\n" and the entries of one.
void unpack(std::string_view input) {
  static tests::TemporaryFolder const folder;
  static auto const root = fs::canonical(folder.path());
  auto const archive = root / "archive";
  auto const directory = root / "unpacked";
  using Format = fetch::ArchiveWriter::Format;
  if (input.starts_with("zip\n"))
    write_archive(archive, input.substr(4), Format::zip);
  else if (input.starts_with("tar\n"))
    write_archive(archive, input.substr(4), Format::tar_zst);
  else
    write_file(archive, input);
  fetch::UnpackLimits limits;
  limits.bytes = 1 << 20;
  limits.entries = 100;
  auto const unpacked = fetch::unpack(archive, directory, limits);
  if (unpacked)
    check_tree(directory, *unpacked);
  else
    check_refusal(unpacked.error());
  require(fs::exists(directory) == unpacked.has_value(), "a directory is complete or removed");
  fs::remove_all(directory);
  fs::remove(archive);
  require(fs::is_empty(root), "nothing is written outside of the directory");
}

}  // namespace torchwatch::fuzz
