#include "fetch/version.h"

#include <array>

#include "fetch/marker.h"
#include "fetch/requirement.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

using fetch::Version;
using fetch::VersionRange;

void check_order(Version const& one, Version const& other) {
  auto const order = one <=> other;
  require((other <=> one) == 0 <=> order, "an order is antisymmetric");
  require((order == 0) == (one == other), "versions of equal order are equal");
}

/// Checks the order of three versions.
void check_transitive(Version const& one, Version const& two, Version const& three) {
  if (one <= two && two <= three) require(one <= three, "an order is transitive");
}

void check_range(std::string const& text, Version const& version) {
  auto const equal = VersionRange::parse("==" + text);
  require(equal && equal->holds(version), "a version is in its own range");
  auto const other = VersionRange::parse("!=" + text);
  require(other && !other->holds(version), "a version is not in its excluded range");
  auto const least = VersionRange::parse(">=" + text);
  require(least.has_value() == !version.is_local(), "local versions have no order");
  require(!least || least->holds(version), "a version is at least itself");
  auto const newer = VersionRange::parse(">" + text);
  require(!newer || !newer->holds(version), "a version is not newer than itself");
}

/// Checks that a development release is before its release, as PEP 440 requires.
void check_development(std::string const& text, Version const& release) {
  if (text.find("dev") != std::string::npos || release.is_local()) return;
  for (auto const* const end : {".dev0", ".dev20251103", ".dev2147483646"}) {
    auto const development = Version::parse(text + end);
    require(!development || *development < release, "a development release is before its release");
  }
}

std::string trimmed_lower(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

void check_version(std::string const& text) {
  auto const version = Version::parse(text);
  if (!version) return;
  check_order(*version, *version);
  check_range(text, *version);
  check_development(trimmed_lower(text), *version);
}

void check_requirement(std::string const& text) {
  auto const requirement = fetch::parse_requirement(text);
  if (!requirement) {
    require(requirement.error().code == ErrorCode::invalid_argument,
            "an unreadable requirement is invalid");
    require(is_one_line(requirement.error().message), "an error is one line");
    return;
  }
  require(
      !requirement->name.empty() && fetch::canonical_name(requirement->name) == requirement->name,
      "a name is canonical");
  auto const again = fetch::parse_requirement(requirement->text);
  require(again && again->name == requirement->name && again->extras == requirement->extras,
          "a written requirement is read as an equal one");
}

void check_marker(std::string const& text) {
  auto const holds = fetch::marker_holds(text, {"3.12", "x86_64", {"cublas"}});
  if (!holds) {
    require(is_one_line(holds.error().message), "an error is one line");
    return;
  }
  auto const both =
      fetch::marker_holds("(" + text + ") and (" + text + ")", {"3.12", "x86_64", {"cublas"}});
  bool const is_empty = text.find_first_not_of(" \t\r\n") == std::string::npos;
  require(is_empty || !both || *both == *holds, "a marker and itself give its value");
}

}  // namespace

/// Three versions, a requirement and a marker of a Python package.
void version(std::string_view input) {
  auto const parts = parts_of(input, 5);
  for (std::size_t at = 0; at < 3; ++at)
    check_version(parts[at]);
  auto const one = Version::parse(parts[0]);
  auto const two = Version::parse(parts[1]);
  auto const three = Version::parse(parts[2]);
  if (one && two) check_order(*one, *two);
  if (one && two && three) {
    check_transitive(*one, *two, *three);
    check_transitive(*three, *one, *two);
    check_transitive(*two, *three, *one);
  }
  check_requirement(parts[3]);
  check_marker(parts[4]);
}

}  // namespace torchwatch::fuzz
