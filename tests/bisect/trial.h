#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bisect/search.h"

namespace torchwatch::bisect {

/// A made-up history for Search: one letter a suspect, oldest first: g good, b bad, s cannot be
/// built. The last is known bad whatever its letter says.
class Trial {
 public:
  explicit Trial(std::string_view letters) : letters_{letters}, search_{commits(letters.size())} {}

  /// Follows next() to its end, or for `most` trials.
  void run(std::size_t most = 10'000) {
    for (std::size_t i = 0; i < most; ++i) {
      auto const commit = search_.next();
      if (!commit) return;
      char const letter = letters_[std::stoul(commit->hex.substr(1))];
      tried_ += (tried_.empty() ? "" : " ") + commit->hex + letter;
      ++count_;
      search_.report(*commit, verdict_of(letter)).value();
    }
  }

  Search& search() { return search_; }

  /// "c3g c5s ...": what was tried, in order, and how it went.
  std::string const& tried() const { return tried_; }

  std::size_t count() const { return count_; }

  std::string suspects() const {
    std::string text;
    for (auto const& commit : search_.suspects()) {
      text += (text.empty() ? "" : " ") + commit.hex;
    }
    return text;
  }

  /// Only to be told apart; Search does not read them.
  static std::vector<CommitSha> commits(std::size_t count) {
    std::vector<CommitSha> result;
    for (std::size_t i = 0; i < count; ++i) {
      result.push_back({"c" + std::to_string(i)});
    }
    return result;
  }

 private:
  static StepVerdict verdict_of(char letter) {
    if (letter == 'g') return StepVerdict::good;
    return letter == 'b' ? StepVerdict::bad : StepVerdict::skip;
  }

  std::string letters_;
  Search search_;
  std::string tried_;
  std::size_t count_ = 0;
};

}  // namespace torchwatch::bisect
