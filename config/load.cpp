#include "config/load.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include <arpa/inet.h>

#include "config/reader.h"

namespace torchwatch::config {
namespace {

namespace fs = std::filesystem;

/// "FILE:LINE:COLUMN: message", from the parser's own words.
std::string syntax_error(std::string const& file,
                         std::string const& text,
                         Json::parse_error const& error) {
  auto const at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
  auto const before = text.substr(0, at);
  auto const line = 1 + std::count(before.begin(), before.end(), '\n');
  auto const column =
      at - (before.rfind('\n') == std::string::npos ? 0 : before.rfind('\n') + 1) + 1;
  std::string what = error.what();
  if (auto const colon = what.find("; "); colon != std::string::npos) what = what.substr(colon + 2);
  if (auto const syntax = what.find("syntax error"); syntax != std::string::npos)
    what = what.substr(syntax);
  return file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + what;
}

bool is_address(std::string const& text) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return ::inet_pton(AF_INET, text.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

/// Rules that concern more than one field, or that no pattern expresses.
void check_together(Options const& options, Complaints& complaints) {
  auto const& decide = options.decide;
  if (decide.screen > decide.threshold) {
    complaints.add("decide.screen",
                   "found " + Json(decide.screen).dump() +
                       ", allowed is at most decide.threshold, " + Json(decide.threshold).dump());
  }
  if (decide.min_pairs > decide.max_pairs) {
    complaints.add("decide.min_pairs",
                   "found " + std::to_string(decide.min_pairs) +
                       ", allowed is at most decide.max_pairs, " +
                       std::to_string(decide.max_pairs));
  }
  if (options.source.repository.empty() != options.source.recipe.empty()) {
    complaints.add("source",
                   "found one of repository and recipe without the other, allowed is both or none");
  }
  if (options.feed.kind == FeedKind::git && options.source.recipe.empty()) {
    complaints.add(
        "feed.kind",
        "found \"git\" without source.recipe, allowed is \"directory\", or a recipe that "
        "builds what the branch names");
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < options.fleets.size(); ++i) {
    auto const& name = options.fleets[i].name;
    if (!names.insert(name).second) {
      complaints.add("fleets[" + std::to_string(i) + "].name",
                     "found \"" + name + "\" again, allowed is a name that no other fleet has");
    }
  }
  if (!is_address(options.http.address)) {
    complaints.add("http.address",
                   "found \"" + options.http.address + "\", allowed is an IPv4 or IPv6 address");
  }
}

Error refuse(std::vector<std::string> const& lines) {
  std::string message;
  for (auto const& line : lines)
    message += (message.empty() ? "" : "\n") + line;
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

}  // namespace

Result<Options> load(fs::path const& file) {
  std::ifstream stream{file};
  std::error_code problem;
  if (!stream || fs::is_directory(file, problem))
    return Error{ErrorCode::not_found, file.string() + ": cannot be read"};
  std::string const text{std::istreambuf_iterator<char>{stream}, {}};

  Json json;
  try {
    json = Json::parse(text, nullptr, true, true);
  } catch (Json::parse_error const& error) {
    return refuse({syntax_error(file.string(), text, error)});
  }
  auto const locations = locate(text);
  Complaints complaints{file.string(), locations};
  if (!json.is_object()) {
    complaints.add("", std::string{"found "} + json.type_name() + ", allowed is an object");
    return refuse(complaints.lines());
  }
  for (auto const& path : locations.duplicates)
    complaints.add(path, "found a key for the second time, allowed is once");

  Options options;
  auto const directory = fs::absolute(file, problem).parent_path();
  Reader reader{json, "", directory, complaints};
  describe(reader, options);
  reader.finish();
  if (complaints.lines().empty()) check_together(options, complaints);
  if (!complaints.lines().empty()) return refuse(complaints.lines());
  options.state_dir = (directory / options.state_dir).lexically_normal().string();
  return options;
}

}  // namespace torchwatch::config
