#include "fetch/wheel_record.h"

#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/algorithm/string/replace.hpp>

#include "fetch/wheel_metadata.h"
#include "storage/domain/digest.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;

/// A line of RECORD: "path,sha256=...,size". Digest and size may be empty.
struct Line {
  std::string digest;  ///< of a SHA-256 alone: weaker ones are not allowed
  std::string size;
};

Error disagrees(fs::path const& record, std::string const& name, std::string const& how) {
  return {ErrorCode::corrupt, record.string() + ": " + name + " " + how};
}

/// As a CSV file has it (RFC 4180).
std::string unquoted(std::string field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return field;
  return boost::replace_all_copy(field.substr(1, field.size() - 2), "\"\"", "\"");
}

/// By path; nothing when a line has another form.
std::optional<std::map<std::string, Line>> lines_of(fs::path const& record) {
  std::map<std::string, Line> lines;
  std::ifstream stream{record};
  for (std::string text; std::getline(stream, text);) {
    if (text.ends_with('\r')) text.pop_back();
    if (text.empty()) continue;
    auto const size = text.rfind(',');
    auto const digest = size == 0 || size == std::string::npos ? size : text.rfind(',', size - 1);
    if (size == std::string::npos || digest == std::string::npos) return std::nullopt;
    lines.emplace(unquoted(text.substr(0, digest)),
                  Line{text.substr(digest + 1, size - digest - 1), text.substr(size + 1)});
  }
  return lines;
}

std::string digest_of(fs::path const& file) {
  Sha256 digest;
  std::ifstream stream{file, std::ios::binary};
  std::array<char, 1 << 16> buffer{};
  while (stream.read(buffer.data(), buffer.size()) || stream.gcount() > 0)
    digest.add({buffer.data(), static_cast<std::size_t>(stream.gcount())});
  return "sha256=" + digest.base64url();
}

bool is_signature(fs::path const& file, fs::path const& record) {
  return file.parent_path() == record.parent_path() && file.stem() == "RECORD" &&
         (file.extension() == ".jws" || file.extension() == ".p7s");
}

/// What RECORD says wrongly of a file that is there; empty: nothing.
std::string complaint(fs::path const& file, Line const& line) {
  auto const size = std::to_string(fs::file_size(file));
  if (!line.size.empty() && line.size != size) return "has " + line.size + " bytes, found " + size;
  if (line.digest.empty()) return {};
  auto const digest = digest_of(file);
  return line.digest == digest ? "" : "has " + line.digest + ", found " + digest;
}

}  // namespace

Result<> check_record(fs::path const& wheel) {
  auto const info = dist_info_in(wheel);
  auto const record = info / "RECORD";
  if (info.empty() || !fs::is_regular_file(record))
    return Error{ErrorCode::corrupt, wheel.string() + ": has no single *.dist-info/RECORD"};
  auto lines = lines_of(record);
  if (!lines) return disagrees(record, "a line", "is not \"path,digest,size\"");
  for (auto const& entry : fs::recursive_directory_iterator{wheel}) {
    if (!entry.is_regular_file() && !entry.is_symlink()) continue;
    auto const name = entry.path().lexically_relative(wheel).string();
    auto const line = lines->extract(name);
    if (entry.path() == record || is_signature(entry.path(), record)) continue;
    if (line.empty()) return disagrees(record, name, "is not listed");
    if (auto const wrong = complaint(entry.path(), line.mapped()); !wrong.empty())
      return disagrees(record, name, wrong);
  }
  if (!lines->empty()) return disagrees(record, lines->begin()->first, "is not there");
  return {};
}

}  // namespace torchwatch::fetch
