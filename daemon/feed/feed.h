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

/// What a feed has.
struct Found {
  std::vector<Nightly> nightlies;  ///< in any order
  /// Entries that are no nightlies, each with the reason, for people. They were passed over.
  std::vector<std::string> odd;
  /// The Pythons of nightlies that are newer than all found: "cp312, cp313". Empty: none is.
  std::string newer{};
};

/// Where nightlies are announced.
class Feed {
 public:
  virtual ~Feed() = default;

  /// What it has now; much of that may be `known`, which is every nightly so far in
  /// the order of nightlies. Fails with unavailable, naming what it asked, when it may be asked
  /// again.
  virtual boost::asio::awaitable<Result<Found>> look(std::vector<Nightly> known) = 0;
};

/// The one that `options.feed` describes. All arguments must outlive it.
std::unique_ptr<Feed> open_feed(config::Options const& options,
                                builds::Fetcher& fetcher,
                                builds::GitFetch& git_fetch,
                                storage::Store& store,
                                Clock const& clock);

}  // namespace torchwatch::feed
