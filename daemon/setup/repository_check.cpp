#include "bisect/git/history.h"
#include "daemon/builds/git_fetch.h"
#include "daemon/setup/checks.h"

namespace torchwatch::setup {

PendingCheck check_repository(CheckContext const& context) {
  auto const& source = context.options.source;
  if (source.repository.empty())
    co_return std::string{
        "nothing to do: without source.repository incidents name a nightly, not its commits"};
  auto const history = bisect::GitHistory::open(source.repository);
  if (!history) co_return history.error();
  if (source.remote.empty())
    co_return source.repository + ": opens; it has no source.remote, so nothing is fetched into it";
  builds::GitFetch fetching{context.executor, source};
  auto const branch = context.options.feed.branch;
  auto const newest = co_await fetching.ask_remote(branch);
  if (!newest) co_return newest.error();
  auto const told = newest->has_value()
                        ? ", its branch " + branch + " is at " + newest->value().hex.substr(0, 12)
                        : ", and has no branch " + branch;
  co_return source.repository + ": opens; the remote " + source.remote + " answers" + told;
}

}  // namespace torchwatch::setup
