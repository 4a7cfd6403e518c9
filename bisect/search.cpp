#include "bisect/search.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace torchwatch::bisect {

Search::Search(std::vector<CommitSha> suspects)
    : commits_{std::move(suspects)},
      skipped_(commits_.size(), false) {
  if (commits_.empty()) throw std::invalid_argument{"search: no suspects"};
  bad_ = commits_.size() - 1;
}

std::vector<Search::Stretch> Search::untried() const {
  std::vector<Stretch> stretches;
  for (std::size_t i = first_; i < bad_; ++i) {
    if (skipped_[i]) continue;
    if (stretches.empty() || stretches.back().end != i) stretches.push_back({i, i});
    stretches.back().end = i + 1;
  }
  return stretches;
}

std::optional<CommitSha> Search::next() const {
  auto const stretches = untried();
  if (stretches.empty()) return std::nullopt;

  // Skips come in spans. Beside a commit that was built the next one most likely builds too, so the
  // stretches at both ends go first; each skip halves one of them. What lies between two skips is
  // tried when nothing else is left.
  auto const& oldest = stretches.front();
  auto const& newest = stretches.back();
  bool const at_start = oldest.begin == first_;
  bool const at_end = newest.end == bad_;
  auto best = std::ranges::max_element(stretches, {}, &Stretch::size);
  if (at_start && at_end) {
    best = oldest.size() > newest.size() ? stretches.begin() : stretches.end() - 1;
  } else if (at_start) {
    best = stretches.begin();
  } else if (at_end) {
    best = stretches.end() - 1;
  }
  return commits_[best->begin + (best->size() - 1) / 2];
}

Result<> Search::report(CommitSha const& commit, StepVerdict verdict) {
  auto const found = std::ranges::find(commits_, commit);
  if (found == commits_.end()) {
    return Error{ErrorCode::invalid_argument,
                 "report verdict: commit " + commit.hex + " is not one of the " +
                     std::to_string(commits_.size()) + " suspects"};
  }
  auto const index = static_cast<std::size_t>(found - commits_.begin());
  auto const contradicts = [&](std::string const& claim, CommitSha const& other) {
    return Error{ErrorCode::invalid_argument,
                 "report verdict: commit " + commit.hex + " cannot be " + claim + " " + other.hex};
  };
  switch (verdict) {
    case StepVerdict::good:
      if (index >= bad_) return contradicts("good, for it is or follows the bad", commits_[bad_]);
      first_ = std::max(first_, index + 1);
      break;
    case StepVerdict::bad:
      if (index < first_) {
        return contradicts("bad, for it is or precedes the good", commits_[first_ - 1]);
      }
      bad_ = std::min(bad_, index);
      break;
    case StepVerdict::skip:
      skipped_[index] = true;
      break;
  }
  return {};
}

std::span<CommitSha const> Search::suspects() const {
  return std::span{commits_}.subspan(first_, bad_ - first_ + 1);
}

}  // namespace torchwatch::bisect
