#include "daemon/feed/feed.h"

#include "daemon/feed/directory.h"
#include "daemon/feed/nightly_branch.h"
#include "daemon/feed/package_index.h"

namespace torchwatch::feed {

std::unique_ptr<Feed> open_feed(config::Options const& options,
                                builds::Fetcher& fetcher,
                                builds::GitFetch& git_fetch,
                                storage::Store& store,
                                Clock const& clock) {
  switch (options.feed.kind) {
    case config::FeedKind::directory:
      break;
    case config::FeedKind::git:
      return std::make_unique<NightlyBranch>(options, git_fetch);
    case config::FeedKind::wheels:
    case config::FeedKind::libtorch:
      return std::make_unique<PackageIndex>(options, fetcher, store, clock);
  }
  return std::make_unique<Directory>(options.feed);
}

}  // namespace torchwatch::feed
