#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/build.h"
#include "tests/years/calendar.h"
#include "tests/years/hostile.h"

namespace torchwatch::years {

/// A change that sounds like a good idea and costs something.
struct Blunder {
  std::string_view subject;
  std::string_view op;  ///< the operator that pays for it
};

extern std::array<Blunder, 12> const blunders;

/// The invented commits of the watched project. Each night has some.
class Trunk {
 public:
  Trunk(Request const& request, std::vector<Night> const& nights);

  /// What the nightly was built from.
  CommitSha head(std::size_t night) const;
  /// The commit of the nightly branch.
  CommitSha release(std::size_t night) const;
  std::string version(std::size_t night) const;

  /// What landed after one nightly and up to another, oldest first.
  std::vector<Commit> between(std::size_t before, std::size_t after) const;

  /// `commit` with the subject of a blunder, and without who revealed it.
  Commit blundered(Commit commit, Blunder const& blunder) const;

 private:
  std::size_t count(std::size_t night) const;
  void append(std::vector<Commit>& commits, std::size_t night) const;
  int first_pull_request(std::size_t night) const;

  Request const& request_;
  std::vector<Night> const& nights_;
  Texts texts_;
};

}  // namespace torchwatch::years
