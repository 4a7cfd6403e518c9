#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "tests/lab/repository.h"
#include "tests/years/hostile.h"
#include "tests/years/script.h"

namespace torchwatch::years {

/// A plausible commit that makes an operator slower.
struct Blunder {
  std::string_view subject;
  std::string_view op;  ///< the operator whose cost grows
};

extern std::array<Blunder, 12> const blunders;

/// Generates the commits of the watched project.
class Landing {
 public:
  /// `request` must outlive it.
  explicit Landing(Request const& request) : request_{request}, texts_{request.is_hostile} {}

  /// Returns the commits that land before a day's nightly, oldest first.
  std::vector<lab::CommitText> commits_of(DaysAgo ago) const;

  /// Gives a commit the subject of a blunder.
  void blunder(lab::CommitText& commit, Blunder const& blunder) const;

 private:
  lab::CommitText commit(Timestamp time, int pull_request, Chance& chance) const;

  Request const& request_;
  Texts texts_;
};

}  // namespace torchwatch::years
