#include "fetch/unpack.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <climits>
#include <fcntl.h>
#include <unistd.h>

#include "storage/base/printable.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;

/// The error that ends the unpacking. Thrown and caught in this file.
struct Stop {
  Error error;
};

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

using ArchiveReader = std::unique_ptr<archive, FreeArchive>;

/// Returns a text as one short line.
std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 200;
  return printable(text, longest);
}

/// Returns the library's error message, which can be missing.
std::string trouble_of(archive* reader) {
  auto const* const words = archive_error_string(reader);
  return words == nullptr ? "it is damaged" : words;
}

class File {
 public:
  File(fs::path const& path, bool is_executable)
      : path_{path},
        descriptor_{::open(path.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           is_executable ? 0755 : 0644)} {
    if (descriptor_ < 0) fail();
  }

  File(File const&) = delete;
  File& operator=(File const&) = delete;

  ~File() { ::close(descriptor_); }

  void write(std::span<char const> bytes) const {
    while (!bytes.empty()) {
      auto const written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) fail();
      if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

 private:
  [[noreturn]] void fail() const {
    auto const why = std::system_category().message(errno);
    throw Stop{{ErrorCode::unavailable, "write " + path_.string() + ": " + why}};
  }

  fs::path path_;
  int descriptor_;
};

enum class Kind { directory, file, link };

/// An entry that may be unpacked.
struct Entry {
  std::string path;  ///< relative, of names alone: "a/b"; empty: the directory itself
  Kind kind{};
  bool is_executable = false;
  fs::path target{};  ///< target of a link
};

/// The rules for archives, checked entry by entry.
class Policy {
 public:
  Policy(fs::path archive_file, UnpackLimits const& limits)
      : archive_{std::move(archive_file)},
        limits_{limits} {
    std::error_code problem;
    auto const size = static_cast<std::int64_t>(fs::file_size(archive_, problem));
    constexpr std::int64_t always_allowed = 64 << 20;
    if (!problem) most_bytes_ = std::min(limits_.bytes, always_allowed + limits_.ratio * size);
  }

  /// Returns the entry that the header describes. Throws when it breaks a rule.
  Entry admit(archive_entry* header) {
    Entry entry;
    entry.path = path_of(header);
    ++seen_.entries;
    expect_room(entry.path);
    if (archive_entry_is_encrypted(header) != 0) refuse(entry.path, "it is encrypted");
    if (archive_entry_hardlink(header) != nullptr) refuse(entry.path, "it is a hard link");
    entry.kind = kind_of(entry.path, header);
    constexpr mode_t any_execute = 0111;
    entry.is_executable = (archive_entry_perm(header) & any_execute) != 0;
    if (entry.kind == Kind::link) entry.target = target_of(entry.path, header);
    for (auto slash = entry.path.find('/'); slash != std::string::npos;
         slash = entry.path.find('/', slash + 1))
      note(entry.path.substr(0, slash), Kind::directory);
    note(entry.path, entry.kind);
    return entry;
  }

  /// Counts bytes of a file's contents. Throws when there are too many.
  void admit(std::string const& path, std::int64_t bytes) {
    seen_.bytes += bytes;
    if (seen_.bytes > most_bytes_)
      refuse(path, "it unpacks to more than " + std::to_string(most_bytes_) + " bytes");
  }

  Unpacked const& seen() const { return seen_; }

  /// Throws the error for an entry that breaks a rule.
  [[noreturn]] void refuse(std::string const& path, std::string const& why) const {
    stop(ErrorCode::refused, path, why);
  }

  /// Throws the error for a file that is truncated, damaged or not an archive.
  [[noreturn]] void fail(std::string const& path, std::string const& why) const {
    stop(ErrorCode::corrupt, path, why);
  }

 private:
  [[noreturn]] void stop(ErrorCode code, std::string const& path, std::string const& why) const {
    auto const where = path.empty() ? "" : ": entry " + excerpt(path);
    throw Stop{{code, "archive " + archive_.string() + where + ": " + excerpt(why)}};
  }

  std::string path_of(archive_entry* header) const {
    char const* given = archive_entry_pathname(header);
    if (given == nullptr) given = archive_entry_pathname_utf8(header);
    if (given == nullptr) refuse("", "the path of an entry cannot be read");
    std::string const text = given;
    if (text.size() > limits_.path)
      refuse(text,
             "its path has " + std::to_string(text.size()) + " characters, allowed are " +
                 std::to_string(limits_.path));
    if (text.starts_with('/')) refuse(text, "its path is absolute");
    fs::path path;
    for (auto const& part : fs::path{text}) {
      if (part == "..") refuse(text, "its path has \"..\"");
      if (part.native().size() > NAME_MAX)
        refuse(text,
               "a name in its path has more than " + std::to_string(NAME_MAX) + " characters");
      if (part != "." && !part.empty()) path /= part;
    }
    return path.string();
  }

  Kind kind_of(std::string const& path, archive_entry* header) const {
    switch (archive_entry_filetype(header)) {
      case AE_IFDIR:
        return Kind::directory;
      case AE_IFREG:
        return Kind::file;
      case AE_IFLNK:
        return Kind::link;
      default:
        refuse(path, "it is neither file, directory nor symbolic link");
    }
  }

  /// Returns the target of a link. It may go up and then down. Its parents are directories and not
  /// links, so it stays inside, as do the links that it leads through.
  fs::path target_of(std::string const& path, archive_entry* header) const {
    auto const* const text = archive_entry_symlink(header);
    if (text == nullptr || *text == '\0') refuse(path, "it is a link without a target");
    fs::path target{text};
    if (target.native().size() >= PATH_MAX) refuse(path, "it is a link to a path that is too long");
    auto above = std::ranges::count(path, '/');
    bool goes_down = false;
    for (auto const& part : target) {
      if (part == ".") continue;
      goes_down = goes_down || part != "..";
      bool const leaves = part == ".." && (goes_down || --above < 0);
      if (leaves || target.is_absolute())
        refuse(path, "it is a link out of the tree, to " + target.string());
    }
    return target;
  }

  /// Stores a path. Directories may be repeated, and each parent of an entry is a directory.
  void note(std::string const& path, Kind kind) {
    if (path.empty() && kind == Kind::directory) return;
    auto const [known, is_new] = kinds_.emplace(path, kind);
    if (known->second != kind) refuse(path, "its path occurs twice, with different types");
    if (path.empty() || (!is_new && kind != Kind::directory)) refuse(path, "its path occurs twice");
    expect_room(path);
  }

  /// Checks the number of entries, with directories that are not listed but contain files.
  void expect_room(std::string const& path) const {
    if (std::max(seen_.entries, static_cast<std::int64_t>(kinds_.size())) > limits_.entries)
      refuse(path, "one too many, allowed are " + std::to_string(limits_.entries) + " entries");
  }

  fs::path archive_;
  UnpackLimits limits_;
  std::int64_t most_bytes_ = 0;
  Unpacked seen_;
  std::unordered_map<std::string, Kind> kinds_;  // by path
};

ArchiveReader open_archive(fs::path const& file, Policy const& policy) {
  ArchiveReader reader{archive_read_new()};
  // No formats that start programs. Zips by their central directory, as other tools read them.
  archive_read_support_format_zip_seekable(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_zstd(reader.get());
  constexpr std::size_t block = 1 << 20;
  if (archive_read_open_filename(reader.get(), file.c_str(), block) != ARCHIVE_OK)
    policy.fail("", trouble_of(reader.get()));
  return reader;
}

/// Returns the next entry, or null at the end.
archive_entry* next_header(archive* reader, Policy const& policy) {
  archive_entry* header = nullptr;
  auto const status = archive_read_next_header(reader, &header);
  if (status == ARCHIVE_EOF) return nullptr;
  if (status < ARCHIVE_WARN) policy.fail("", trouble_of(reader));
  return header;
}

/// Checks all headers, before anything is written.
void check_headers(fs::path const& archive_file, UnpackLimits const& limits) {
  Policy policy{archive_file, limits};
  auto const reader = open_archive(archive_file, policy);
  while (auto* const header = next_header(reader.get(), policy)) {
    auto const entry = policy.admit(header);
    policy.admit(entry.path, archive_entry_size(header));
  }
}

/// Unpacks one archive into one directory.
class Unpacking {
 public:
  Unpacking(fs::path const& archive_file,
            fs::path directory,
            UnpackLimits const& limits,
            UnpackProgress const& on_progress)
      : directory_{std::move(directory)},
        on_progress_{on_progress},
        policy_{archive_file, limits},
        reader_{open_archive(archive_file, policy_)},
        buffer_(std::size_t{1} << 18) {}

  Unpacked run() {
    while (auto* const header = next_header(reader_.get(), policy_))
      bring(policy_.admit(header));
    return policy_.seen();
  }

 private:
  void bring(Entry const& entry) {
    auto const path = directory_ / entry.path;
    std::error_code problem;
    fs::create_directories(entry.kind == Kind::directory ? path : path.parent_path(), problem);
    if (entry.kind == Kind::link) fs::create_symlink(entry.target, path, problem);
    if (problem)
      throw Stop{{ErrorCode::unavailable, "make " + path.string() + ": " + problem.message()}};
    if (entry.kind == Kind::file) bring_contents(entry, File{path, entry.is_executable});
  }

  void bring_contents(Entry const& entry, File const& file) {
    while (true) {
      auto const size = archive_read_data(reader_.get(), buffer_.data(), buffer_.size());
      if (size == 0) return;
      if (size < 0) policy_.fail(entry.path, trouble_of(reader_.get()));
      policy_.admit(entry.path, size);
      file.write({buffer_.data(), static_cast<std::size_t>(size)});
      report_progress();
    }
  }

  void report_progress() {
    constexpr std::chrono::milliseconds pause{200};
    auto const now = std::chrono::steady_clock::now();
    if (!on_progress_ || now < reported_at_ + pause) return;
    reported_at_ = now;
    on_progress_(policy_.seen().bytes);
  }

  fs::path directory_;
  UnpackProgress const& on_progress_;
  Policy policy_;
  ArchiveReader reader_;
  std::vector<char> buffer_;
  std::chrono::steady_clock::time_point reported_at_{};
};

}  // namespace

Result<Unpacked> unpack(fs::path const& archive,
                        fs::path const& directory,
                        UnpackLimits const& limits,
                        UnpackProgress const& on_progress) {
  std::error_code problem;
  try {
    check_headers(archive, limits);
  } catch (Stop const& stop) {
    return stop.error;
  }
  if (!fs::create_directory(directory, problem))
    return Error{
        problem ? ErrorCode::unavailable : ErrorCode::invalid_argument,
        "make " + directory.string() + ": " + (problem ? problem.message() : "it exists already")};
  try {
    return Unpacking{archive, directory, limits, on_progress}.run();
  } catch (Stop const& stop) {
    fs::remove_all(directory, problem);
    return stop.error;
  }
}

}  // namespace torchwatch::fetch
