#pragma once

#include <compare>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/result.h"

/// Versions of Python packages and version specifiers (PEP 440).
namespace torchwatch::fetch {

/// A version: "13.0.48", "2.9.0.dev20250902+cu126", "1!3.5rc1.post2". Ordered as in PEP 440:
/// 1.0.dev1 < 1.0a1 < 1.0 < 1.0+local < 1.0.post1. 1.0 and 1.0.0 are equal.
class Version {
 public:
  /// Returns nothing when `text` is not a version, or has a number of 2147483647 or more.
  static std::optional<Version> parse(std::string_view text);

  bool is_prerelease() const { return phase_.first != final_phase || dev_ != no_dev; }

  bool is_postrelease() const { return post_ != no_post; }

  bool is_local() const { return !local_.empty(); }

  /// Returns the version without its local part, which follows the plus sign.
  Version without_local() const;

  /// True when the release begins with all numbers of `start`: 13.0.48 starts with 13.0.
  bool starts_with(Version const& start) const;

  /// True when both have the same release numbers, such as 1.0rc1 and 1.0.post1.
  bool is_of_release(Version const& other) const;

  /// Returns the release without its last number: 13 for 13.0, 13.0 for 13.0.48. Other parts are
  /// removed.
  Version without_last_number() const;

  friend std::strong_ordering operator<=>(Version const& one, Version const& other);
  friend bool operator==(Version const& one, Version const& other);

 private:
  static constexpr int final_phase = 3;
  static constexpr int no_post = -1;
  static constexpr int no_dev = std::numeric_limits<int>::max();  // newer than any

  struct LocalPart {
    int number = -1;  ///< -1 for letters, which come before all numbers
    std::string letters;
    friend auto operator<=>(LocalPart const&, LocalPart const&) = default;
  };

  static std::vector<LocalPart> local_parts_in(std::string const& text);
  std::vector<int> trimmed_release() const;

  int epoch_ = 0;
  std::vector<int> release_;
  std::pair<int, int> phase_{final_phase, 0};  // alpha 0, beta 1, candidate 2, final 3; which one
  int post_ = no_post;
  int dev_ = no_dev;
  std::vector<LocalPart> local_;
};

/// A range of versions: ">=2.9,!=2.9.1", "==13.0.*", "~=2.1". An empty text allows all versions.
class VersionRange {
 public:
  /// Fails with invalid_argument, naming the invalid clause. Local versions ("+...") are allowed
  /// only after "==" and "!=", because they have no order.
  static Result<VersionRange> parse(std::string_view text);

  bool holds(Version const& version) const;

 private:
  struct Clause {
    std::string comparison;  ///< "==", "!=", "<", "<=", ">", ">=", "~="
    Version version;
    bool is_prefix = false;  ///< for "==" and "!=": the version ends with ".*"
  };

  static Result<Clause> clause_in(std::string_view text);
  static bool is_in(Version const& version, Clause const& clause);

  std::vector<Clause> clauses_;
};

}  // namespace torchwatch::fetch
