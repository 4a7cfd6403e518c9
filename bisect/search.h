#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "storage/domain/bisection.h"
#include "storage/domain/build.h"
#include "storage/domain/result.h"

namespace torchwatch::bisect {

/// Decides which commit to try next. Holds no resources and does no I/O: the verdicts reported so
/// far, in any process, give the same next commit. Not thread-safe.
///
/// Suspects are ordered oldest first; the newest is known bad, the parent of the oldest is known
/// good.
class Search {
 public:
  /// Throws std::invalid_argument when there is no suspect.
  explicit Search(std::vector<CommitSha> suspects);

  /// The commit to try next, or nothing when no trial can narrow the suspects further.
  std::optional<CommitSha> next() const;

  /// Records one verdict, on any suspect and in any order. Fails with invalid_argument when
  /// `commit` was never a suspect or when the verdict contradicts what is known: good on or after a
  /// bad commit, bad on or before a good one. The search is then unchanged.
  Result<> report(CommitSha const& commit, StepVerdict verdict);

  /// What is left, oldest first: the culprit alone, or, when skips hide it, the skipped commits and
  /// the first bad one after them. Never empty. Valid until the next report().
  std::span<CommitSha const> suspects() const;

 private:
  /// Suspects in a row whose trial may still tell something: [begin, end).
  struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }
  };

  std::vector<Stretch> untried() const;

  std::vector<CommitSha> commits_;
  std::vector<bool> skipped_;
  std::size_t first_ = 0;  ///< oldest suspect; its parent is good
  std::size_t bad_ = 0;    ///< newest suspect, itself bad
};

}  // namespace torchwatch::bisect
