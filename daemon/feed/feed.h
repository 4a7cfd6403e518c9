#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/builds/fetcher.h"
#include "daemon/builds/git_fetch.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"
#include "storage/store.h"

namespace torchwatch::feed {

/// The contents of a feed.
struct Found {
  std::vector<Nightly> nightlies;  ///< in any order
  /// Skipped entries that are not nightlies, each with the reason, for people.
  std::vector<std::string> odd;
  /// The Pythons of nightlies that are newer than all found: "cp312, cp313". Empty: there is none.
  std::string newer{};
};

/// The place where nightlies are announced.
class Feed {
 public:
  virtual ~Feed() = default;

  /// Reads its current contents, which may include known nightlies. Fails with unavailable, naming
  /// the address, when another attempt may succeed.
  virtual boost::asio::awaitable<Result<Found>> look() = 0;
};

/// Returns the feed that `options.feed` describes. All arguments must outlive it.
std::unique_ptr<Feed> open_feed(config::Options const& options,
                                builds::Fetcher& fetcher,
                                builds::GitFetch& git_fetch,
                                storage::Store& store,
                                Clock const& clock);

}  // namespace torchwatch::feed
