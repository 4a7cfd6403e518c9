#include "fetch/companions.h"

#include <algorithm>
#include <utility>

#include <boost/algorithm/string/split.hpp>

#include "fetch/index.h"
#include "fetch/marker.h"
#include "storage/base/printable.h"

namespace torchwatch::fetch {
namespace {

bool has_libraries(std::string const& name) {
  return name.starts_with("nvidia-") || name == "cuda-toolkit";
}

/// The parts of NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl (PEP 427).
struct WheelName {
  std::string name;
  std::optional<Version> version;
  std::string version_text;
  std::string platform;
};

std::optional<WheelName> parse_wheel_name(std::string const& file_name) {
  constexpr std::string_view end = ".whl";
  if (!file_name.ends_with(end)) return std::nullopt;
  std::vector<std::string> parts;
  auto const stem = file_name.substr(0, file_name.size() - end.size());
  boost::split(parts, stem, [](char c) { return c == '-'; });
  if (parts.size() != 5 && parts.size() != 6) return std::nullopt;
  return WheelName{canonical_name(parts[0]), Version::parse(parts[1]), parts[1], parts.back()};
}

/// True when one of the platform tags, separated by dots, fits the machine.
bool runs_on(std::string const& platform, std::string const& machine) {
  std::vector<std::string> tags;
  boost::split(tags, platform, [](char c) { return c == '.'; });
  return std::ranges::any_of(tags, [&](std::string const& tag) {
    return tag == "any" || (tag.find("linux") != std::string::npos && tag.ends_with("_" + machine));
  });
}

}  // namespace

Result<std::vector<Requirement>> companions_of(WheelMetadata const& wheel,
                                               std::set<std::string> const& extras,
                                               std::string const& machine) {
  constexpr auto any_python = "3.12";
  MarkerEnvironment const environment{
      wheel.python.empty() ? any_python : wheel.python, machine, extras};
  auto const bad = [&wheel](Error const& problem) {
    return Error{ErrorCode::corrupt,
                 printable(wheel.name + " " + wheel.version + ": METADATA: " + problem.message)};
  };
  std::vector<Requirement> companions;
  for (auto const& text : wheel.needs) {
    auto requirement = parse_requirement(text);
    // A requirement with an address is not a file of the index, so it is not a companion.
    if (!requirement && !has_libraries(canonical_name(text))) continue;
    if (!requirement) return bad(requirement.error());
    if (!has_libraries(requirement->name)) continue;
    auto const is_needed = marker_holds(requirement->marker, environment);
    if (!is_needed) return bad(is_needed.error());
    if (*is_needed) companions.push_back(std::move(*requirement));
  }
  return companions;
}

std::optional<CompanionFile> companion_in(std::vector<PageLink> const& links,
                                          Requirement const& wanted,
                                          std::string const& machine) {
  std::optional<CompanionFile> best;
  std::pair<bool, Version> worth;
  for (auto const& link : links) {
    auto const wheel = parse_wheel_name(link.name);
    if (!wheel || link.is_yanked || wheel->name != wanted.name || !wheel->version) continue;
    if (!wanted.versions.holds(*wheel->version) || !runs_on(wheel->platform, machine)) continue;
    std::pair const worth_of_this{!wheel->version->is_prerelease(), *wheel->version};
    if (best && worth_of_this <= worth) continue;
    best = CompanionFile{wheel->name, wheel->version_text, link.url, link.sha256};
    worth = worth_of_this;
  }
  return best;
}

Result<CompanionFile> find_companion(CompanionRequest const& request) {
  auto const wanted = parse_requirement(request.requirement);
  if (!wanted) return wanted.error();
  auto const page = read_page(request.page, request.file);
  if (!page) return page.error();
  auto file = companion_in(page->links, *wanted, request.machine);
  if (file) return std::move(*file);
  return Error{
      ErrorCode::not_found,
      "index " + request.page.url + ": has no " + request.requirement + " for " + request.machine};
}

}  // namespace torchwatch::fetch
