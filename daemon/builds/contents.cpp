#include "daemon/builds/contents.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <utility>

#include "daemon/builds/companions.h"

namespace torchwatch::builds {
namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string{text}};
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

bool is_control(unsigned char character) {
  return std::iscntrl(character) != 0;
}

/// Returns `path` relative to the prefix, so that it does not depend on the prefix.
std::string inside(std::string const& prefix, std::string const& path) {
  return path.starts_with(prefix + "/") ? path.substr(prefix.size() + 1) : path;
}

void append_only(std::vector<std::string>& lines,
                 std::string const& mark,
                 std::vector<std::string> const& of,
                 std::vector<std::string> const& not_of) {
  std::vector<std::string> only;
  std::ranges::set_difference(of, not_of, std::back_inserter(only));
  for (auto const& line : only)
    lines.push_back(mark + line);
}

}  // namespace

std::vector<std::string> packaging_of(Build const& build, Recipe const& recipe) {
  auto lines = recipe.kind == RecipeKind::artifacts ? std::vector<std::string>{"built elsewhere"}
                                                    : lines_of(recipe.contents);
  auto const& [commit, version, date, variant, kind, env, preload, launcher] = build.manifest;
  lines.push_back("kind " + kind);
  if (!variant.empty()) lines.push_back("variant " + variant);
  for (auto const& [name, value] : env)
    lines.push_back("variable " + name + "=" + value);
  for (auto const& library : preload)
    lines.push_back("preloads " + inside(build.prefix, library));
  std::string words;
  for (auto const& word : launcher)
    words += " " + word;
  if (!words.empty()) lines.push_back("launcher" + words);
  std::error_code ignored;  // none has none
  for (auto const& entry : fs::directory_iterator{fs::path{build.prefix} / "lib", ignored})
    lines.push_back("holds lib/" + entry.path().filename().string());
  for (auto const& companion : companions_listed_in(fs::path{build.prefix}.parent_path()))
    lines.push_back("companion " + companion.name + " " + companion.version);
  for (auto& line : lines)
    std::ranges::replace_if(line, is_control, ' ');
  return lines;
}

std::vector<std::string> differences(std::vector<std::string> before,
                                     std::vector<std::string> after) {
  std::ranges::sort(before);
  std::ranges::sort(after);
  std::vector<std::string> lines;
  append_only(lines, "- ", before, after);
  append_only(lines, "+ ", after, before);
  return lines;
}

std::vector<std::string> differences(std::string_view before, std::string_view after) {
  return differences(lines_of(before), lines_of(after));
}

}  // namespace torchwatch::builds
