#include "bisect/git/commit_message.h"

#include <set>

#include "bisect/git/landings.h"
#include "storage/base/date.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {

/// A commit's whole message, which anyone can have written.
void commit_message(std::string_view input) {
  auto const number = bisect::pull_request_of(input);
  require(!number || *number > 0, "pull requests count from one");
  Commit commit;
  commit.pull_request = number;
  require(bisect::lands_again(input, commit) || !number,
          "a commit lands its own pull request again");
  auto const names = bisect::approvers_of(input);
  require(std::set(names.begin(), names.end()).size() == names.size(),
          "each approver is listed once");
  for (auto const& name : names)
    require(!name.empty() && name.find_first_of(", \t/\n") == std::string::npos,
            "an approver is one name");
  if (auto const revert = bisect::revert_of(input)) {
    require(!revert->commit || is_commit_sha(revert->commit->hex), "a reverted commit is valid");
    require(!revert->pull_request || *revert->pull_request > 0,
            "reverted pull requests count from one");
  }
  auto const subject = input.substr(0, input.find('\n'));
  if (auto const release = bisect::parse_nightly_release(subject, {std::string(40, 'a')})) {
    require(day_of(release->date).has_value(), "a nightly has a day");
    require(is_commit_sha(release->trunk.hex), "a nightly was released from a commit");
  }
}

}  // namespace torchwatch::fuzz
