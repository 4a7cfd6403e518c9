#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/builds/fetcher.h"
#include "daemon/feed/feed.h"
#include "fetch/index.h"
#include "storage/store.h"

namespace torchwatch::feed {

/// PyTorch's index of wheels, or its listing of LibTorch archives: a page of links to files. A
/// nightly is a date and version on it, in one file: the wheel for the followed Python, or another
/// one after `python_wait`.
class PackageIndex final : public Feed {
 public:
  /// All must outlive it.
  PackageIndex(config::Options const& options,
               builds::Fetcher& fetcher,
               storage::Store& store,
               Clock const& clock)
      : options_{options},
        fetcher_{fetcher},
        store_{store},
        clock_{clock} {}

  /// Reads the page, if it has changed, and checks whether the newest known files were published
  /// again. If only the server's version of a file changed, downloads the file and compares its
  /// digest, once an hour at most. Nightlies have a date, a version and a file; only the file shows
  /// their commit.
  boost::asio::awaitable<Result<Found>> look() override;

 private:
  boost::asio::awaitable<Result<>> read_page();
  Interpreter followed();
  bool was_waited_for(Nightly const& nightly);
  boost::asio::awaitable<std::optional<Nightly>> published_again(Nightly newest,
                                                                 std::vector<Nightly> known);
  boost::asio::awaitable<bool> may_have_changed(Nightly newest);
  boost::asio::awaitable<std::optional<fetch::Downloaded>> other_version(std::string url,
                                                                         fetch::Validators known);
  boost::asio::awaitable<std::optional<fetch::Downloaded>> contents_at(std::string url);
  void remember(Nightly nightly, fetch::Validators const& validators);

  config::Options const& options_;
  builds::Fetcher& fetcher_;
  storage::Store& store_;
  Clock const& clock_;
  fetch::Validators page_version_;
  std::vector<fetch::Offer> offers_;
  std::string newer_;  // as fetch::Index has it
  Timestamp compared_at_{};
};

}  // namespace torchwatch::feed
