#include "fetch/companions.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "fetch/index.h"
#include "storage/base/printable.h"

namespace torchwatch::fetch {
namespace {

bool has_libraries(std::string const& name) {
  return name.starts_with("nvidia-") || name == "cuda-toolkit";
}

/// True for a package that belongs to the operator's interpreter.
bool is_of_operator(std::string const& name) {
  return name == "setuptools";
}

bool is_of_scope(CompanionScope scope, std::string const& name) {
  return scope == CompanionScope::libraries ? has_libraries(name) : !is_of_operator(name);
}

/// True when a text that is not a requirement can be skipped: another scope's, or one whose marker
/// does not hold. A requirement with an address is such a text.
bool can_be_skipped(std::string const& text,
                    MarkerEnvironment const& environment,
                    CompanionScope scope) {
  if (scope == CompanionScope::libraries) return !has_libraries(canonical_name(text));
  auto const semicolon = text.find(';');
  if (semicolon == std::string::npos) return false;
  auto const holds = marker_holds(text.substr(semicolon + 1), environment);
  return holds && !*holds;
}

/// True when `range` holds for some release of a Python such as "3.12". Only the version without
/// its last number is known, so a recent one is assumed. A text that is not a range holds for all.
bool allows_python(std::string const& range, std::string const& python) {
  auto const versions = VersionRange::parse(range);
  auto const version = Version::parse(python + ".99");
  return !versions || !version || versions->holds(*version);
}

bool fits(std::vector<WheelTag> const& tags,
          std::string const& requires_python,
          WheelTarget const& target) {
  if (!rank_of(tags, target)) return false;
  return target.python.empty() || is_compiled_for(tags, target) ||
         allows_python(requires_python, python_version_of(target.python));
}

/// A file of the page that fits, and its rank; larger is better.
struct Candidate {
  PageLink const* link = nullptr;
  WheelName wheel;
  TagRank tag;

  auto rank() const {
    return std::tuple{!wheel.version.is_prerelease(), wheel.version, wheel.build, tag};
  }
};

bool has_wanted_version(WheelName const& wheel, CompanionWish const& wish) {
  auto const is_unsuited =
      std::ranges::find(wish.unsuited, wheel.version_text) != wish.unsuited.end();
  return !is_unsuited && wheel.version_text.ends_with(wish.version_end) &&
         wish.requirement.versions.holds(wheel.version);
}

std::optional<Candidate> candidate_of(PageLink const& link, CompanionWish const& wish) {
  auto wheel = parse_wheel_name(link.name);
  if (!wheel || link.is_yanked || wheel->name != wish.requirement.name) return std::nullopt;
  auto const rank = rank_of(wheel->tags, wish.target);
  if (!has_wanted_version(*wheel, wish) || !rank) return std::nullopt;
  if (!fits(wheel->tags, link.requires_python, wish.target)) return std::nullopt;
  return Candidate{&link, std::move(*wheel), *rank};
}

/// True when both links lead to the same file. Two mirrors of one file have the same name.
bool is_same_file(PageLink const& one, PageLink const& other) {
  bool const have_digests = !one.sha256.empty() && !other.sha256.empty();
  return have_digests ? one.sha256 == other.sha256 : one.name == other.name;
}

CompanionFile file_of(Candidate const& chosen) {
  return {chosen.wheel.name,
          chosen.wheel.version_text,
          chosen.link->url,
          chosen.link->sha256,
          variant_of(chosen.wheel.tags)};
}

std::string text_of_target(WheelTarget const& target) {
  return target.python.empty() ? target.machine : target.abi + " on " + target.machine;
}

std::string text_of_wish(CompanionWish const& wish) {
  auto text = wish.requirement.text;
  if (!wish.version_end.empty()) text += " with a version that ends with " + wish.version_end;
  return text + " for " + text_of_target(wish.target);
}

std::string list_of(std::vector<std::string> const& words) {
  constexpr std::size_t most = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(words.size(), most); ++i)
    list += (list.empty() ? "" : ", ") + words[i];
  return words.size() > most ? list + ", ..." : list;
}

/// Returns the wheels of the package on the page, newest first.
std::vector<WheelName> wheels_of(std::vector<PageLink> const& links, std::string const& name) {
  std::vector<WheelName> wheels;
  for (auto const& link : links)
    if (auto wheel = parse_wheel_name(link.name); wheel && wheel->name == name && !link.is_yanked)
      wheels.push_back(std::move(*wheel));
  std::ranges::stable_sort(wheels, [](WheelName const& one, WheelName const& other) {
    return other.version < one.version;
  });
  return wheels;
}

void add_new(std::vector<std::string>& words, std::string word) {
  if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
}

/// Returns the versions of the wheels, or the tags of those that have the wanted version.
std::string found_among(std::vector<WheelName> const& wheels, CompanionWish const& wish) {
  std::vector<std::string> versions;
  std::vector<std::string> tags;
  for (auto const& wheel : wheels) {
    add_new(versions, wheel.version_text);
    if (!has_wanted_version(wheel, wish)) continue;
    for (auto const& tag : wheel.tags)
      add_new(tags, tag.python + "-" + tag.abi + "-" + tag.platform);
  }
  return tags.empty() ? list_of(versions) : "it for " + list_of(tags);
}

}  // namespace

Result<std::vector<Requirement>> companions_of(WheelMetadata const& wheel,
                                               MarkerEnvironment const& environment,
                                               CompanionScope scope) {
  auto const bad = [&wheel](Error const& problem) {
    return Error{ErrorCode::corrupt,
                 printable(wheel.name + " " + wheel.version + ": METADATA: " + problem.message)};
  };
  std::vector<Requirement> companions;
  for (auto const& text : wheel.needs) {
    auto requirement = parse_requirement(text);
    if (!requirement && can_be_skipped(text, environment, scope)) continue;
    if (!requirement) return bad(requirement.error());
    if (!is_of_scope(scope, requirement->name)) continue;
    auto const is_needed = marker_holds(requirement->marker, environment);
    if (!is_needed) return bad(is_needed.error());
    if (*is_needed) companions.push_back(std::move(*requirement));
  }
  return companions;
}

Result<std::optional<CompanionFile>> companion_in(std::vector<PageLink> const& links,
                                                  CompanionWish const& wish) {
  std::optional<Candidate> best;
  PageLink const* rival = nullptr;  // another file that is as good as the best
  for (auto const& link : links) {
    auto candidate = candidate_of(link, wish);
    if (!candidate || (best && candidate->rank() < best->rank())) continue;
    bool const is_better = !best || best->rank() < candidate->rank();
    if (!is_better && !is_same_file(*best->link, link)) rival = &link;
    if (!is_better) continue;
    rival = nullptr;
    best = std::move(candidate);
  }
  if (!best) return std::optional<CompanionFile>{};
  if (rival != nullptr && !wish.target.python.empty())
    return Error{ErrorCode::corrupt,
                 printable("two files are equally good for " + text_of_wish(wish) + ": " +
                           best->link->name + " and " + rival->name)};
  return std::optional{file_of(*best)};
}

std::string why_no_companion(std::vector<PageLink> const& links, CompanionWish const& wish) {
  auto why = "has no " + text_of_wish(wish);
  auto const wheels = wheels_of(links, wish.requirement.name);
  if (!wheels.empty()) why += "; found " + found_among(wheels, wish);
  return printable(why);
}

bool fits(WheelMetadata const& wheel, WheelTarget const& target) {
  return fits(wheel.tags, wheel.requires_python, target);
}

Result<CompanionFile> find_companion(CompanionRequest const& request) {
  auto wanted = parse_requirement(request.requirement);
  if (!wanted) return wanted.error();
  CompanionWish const wish{
      std::move(*wanted), request.target, request.version_end, request.unsuited};
  auto const page = read_page(request.page, request.file);
  if (!page) return page.error();
  auto const on_page = [&request](std::string const& problem) {
    return "index " + request.page.url + ": " + problem;
  };
  if (page->end == Downloaded::End::absent)
    return Error{ErrorCode::not_found,
                 on_page("there is no such page, so no " + text_of_wish(wish))};
  auto file = companion_in(page->links, wish);
  if (!file) return Error{file.error().code, on_page(file.error().message)};
  if (*file) return std::move(**file);
  return Error{ErrorCode::not_found, on_page(why_no_companion(page->links, wish))};
}

}  // namespace torchwatch::fetch
