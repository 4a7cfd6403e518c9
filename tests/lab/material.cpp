#include "tests/lab/material.h"

#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

namespace torchwatch::lab {

namespace {

namespace fs = std::filesystem;

Result<std::string> read(fs::path const& file) {
  std::ifstream stream{file, std::ios::binary};
  if (!stream) return Error{ErrorCode::not_found, file.string() + ": cannot be read"};
  return std::string{std::istreambuf_iterator<char>{stream}, {}};
}

/// Reads a patch file: subject line, empty line, body, and the diff from the first "diff --git" on.
Result<Change> parse_change(std::string const& text, fs::path const& file) {
  auto const subject_end = text.find("\n\n");
  auto const diff_begin = text.find("\ndiff --git ");
  if (subject_end == std::string::npos || diff_begin == std::string::npos ||
      diff_begin < subject_end) {
    return Error{
        ErrorCode::corrupt,
        file.string() + ": allowed is a subject, an empty line, a body and a line 'diff --git'"};
  }
  auto body = text.substr(subject_end + 1, diff_begin - subject_end - 1);
  body.erase(0, body.find_first_not_of('\n'));
  body.erase(body.find_last_not_of('\n') + 1);
  return Change{text.substr(0, subject_end), std::move(body), text.substr(diff_begin + 1)};
}

Result<std::map<std::string, Change>> load_changes(fs::path const& folder) {
  std::map<std::string, Change> changes;
  for (auto const& entry : fs::recursive_directory_iterator{folder}) {
    auto const& file = entry.path();
    if (file.extension() != ".patch") continue;
    auto const text = read(file);
    if (!text) return text.error();
    auto change = parse_change(*text, file);
    if (!change) return change.error();
    changes.emplace(fs::relative(file, folder).replace_extension().generic_string(),
                    std::move(*change));
  }
  return changes;
}

Person person_of(nlohmann::json const& object) {
  return {object.at("name").get<std::string>(),
          object.at("email").get<std::string>(),
          object.at("login").get<std::string>()};
}

Result<Material> load(fs::path const& folder) {
  Material material;
  material.tree = folder / "tree";
  material.recipe = fs::canonical(folder / "recipe");
  material.dependencies = folder / "dependencies";
  auto changes = load_changes(folder / "changes");
  if (!changes) return changes.error();
  material.changes = std::move(*changes);
  auto const people = read(folder / "people.json");
  if (!people) return people.error();
  auto const document = nlohmann::json::parse(*people);
  for (auto const& person : document.at("people"))
    material.people.push_back(person_of(person));
  material.bot = person_of(document.at("bot"));
  document.at("revert_reasons").get_to(material.revert_reasons);
  auto script = read(folder / "scripted.json");
  if (!script) return script.error();
  material.script = std::move(*script);
  return material;
}

}  // namespace

Result<Material> load_material(fs::path const& folder) {
  try {
    return load(folder);
  } catch (std::exception const& problem) {
    return Error{ErrorCode::corrupt, folder.string() + ": " + problem.what()};
  }
}

}  // namespace torchwatch::lab
