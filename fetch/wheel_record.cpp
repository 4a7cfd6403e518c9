#include "fetch/wheel_record.h"

#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "fetch/wheel_metadata.h"
#include "storage/base/digest.h"
#include "storage/base/printable.h"
#include "storage/base/small_file.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;

/// A line of RECORD: "path,sha256=...,size". Digest and size may be empty.
struct Line {
  std::string digest;  ///< only SHA-256: weaker hashes are not allowed
  std::string size;

  bool operator==(Line const&) const = default;
};

using Lines = std::map<std::string, Line>;  // by path

/// The differences of files from RECORD, by path.
using Differences = std::map<std::string, std::string>;

constexpr auto not_listed = "is not listed";

Error disagrees(fs::path const& record, std::string const& name, std::string const& how) {
  return {ErrorCode::corrupt, printable(record.string() + ": " + name + " " + how)};
}

/// Returns the fields of a line of CSV (RFC 4180). Returns none when a quote is not closed.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    char const c = line[at];
    if (is_quoted && line.substr(at).starts_with("\"\""))
      fields.back() += line[++at];
    else if (c == '"' && (is_quoted || fields.back().empty()))
      is_quoted = !is_quoted;
    else if (c == ',' && !is_quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return is_quoted ? std::vector<std::string>{} : fields;
}

/// True when a file, by its path in the wheel, is in the directory of RECORD.
bool is_next_to(fs::path const& record, std::string const& name) {
  return name.starts_with(record.parent_path().filename().string() + "/");
}

Result<Lines> lines_of(fs::path const& record) {
  constexpr std::size_t largest = 64 << 20;  // PyTorch's has 2 MB
  auto const text = read_small_file(record, largest);
  if (!text) return text.error();
  Lines lines;
  std::istringstream stream{*text};
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    auto const fields = fields_of(line);
    if (fields.size() != 3) return disagrees(record, "a line", "is not \"path,digest,size\"");
    Line const said{fields[1], fields[2]};
    bool const is_new_or_alike = lines.emplace(fields[0], said).first->second == said;
    if (!is_new_or_alike && !is_next_to(record, fields[0]))
      return disagrees(record, fields[0], "is listed twice, with another digest or size");
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

/// Returns the difference of an existing file from RECORD. Empty when it is equal.
std::string complaint(fs::path const& file, Line const& line) {
  std::error_code missing;
  if (!fs::is_regular_file(file, missing)) return "leads to no file";
  auto const size = std::to_string(fs::file_size(file));
  if (!line.size.empty() && line.size != size) return "has " + line.size + " bytes, found " + size;
  if (line.digest.empty()) return {};
  auto const digest = digest_of(file);
  return line.digest == digest ? "" : "has " + line.digest + ", found " + digest;
}

Differences differences_of(fs::path const& wheel, fs::path const& record, Lines lines) {
  Differences differences;
  for (auto const& entry : fs::recursive_directory_iterator{wheel}) {
    if (!entry.is_symlink() && !entry.is_regular_file()) continue;
    auto const name = entry.path().lexically_relative(wheel).string();
    auto const line = lines.extract(name);
    if (entry.path() == record || is_signature(entry.path(), record)) continue;
    auto const how =
        line.empty() ? std::string{not_listed} : complaint(entry.path(), line.mapped());
    if (!how.empty()) differences.emplace(name, how);
  }
  for (auto const& [name, line] : lines)
    differences.emplace(name, "is not there");
  return differences;
}

/// Returns the warning. Empty when there is no difference.
std::string warning_of(Differences const& differences) {
  if (differences.empty()) return {};
  auto const& [name, how] = *differences.begin();
  auto const others = differences.size() - 1;
  auto const more = others == 0 ? std::string{} : "; " + std::to_string(others) + " more differ";
  return printable("RECORD: " + name + " " + how + more);
}

}  // namespace

Result<std::string> check_record(fs::path const& wheel) {
  auto const info = dist_info_in(wheel);
  auto const record = info / "RECORD";
  if (info.empty() || !fs::is_regular_file(record))
    return Error{ErrorCode::corrupt,
                 wheel.string() + ": does not have exactly one *.dist-info/RECORD"};
  auto lines = lines_of(record);
  if (!lines) return lines.error();
  auto const differences = differences_of(wheel, record, std::move(*lines));
  for (auto const& [name, how] : differences)
    if (how != not_listed && !is_next_to(record, name)) return disagrees(record, name, how);
  return warning_of(differences);
}

}  // namespace torchwatch::fetch
