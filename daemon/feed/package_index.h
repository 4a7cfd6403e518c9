#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/builds/fetcher.h"
#include "daemon/feed/feed.h"
#include "fetch/index.h"

namespace torchwatch::feed {

/// PyTorch's index of wheels, or its listing of LibTorch archives: a page of links to files.
class PackageIndex final : public Feed {
 public:
  /// Both must outlive it.
  PackageIndex(config::Options const& options, builds::Fetcher& fetcher)
      : options_{options},
        fetcher_{fetcher} {}

  /// Asks for the page, if it has changed, and whether the newest known file was published again.
  /// Nightlies have a date, a version and a file; what they were built from says only that file.
  boost::asio::awaitable<Result<Found>> look(std::vector<Nightly> known) override;

 private:
  boost::asio::awaitable<Result<>> read_page();
  boost::asio::awaitable<std::optional<Nightly>> published_again(Nightly newest);
  boost::asio::awaitable<std::optional<fetch::Validators>> version_other_than(
      std::string url, fetch::Validators known);

  config::Options const& options_;
  builds::Fetcher& fetcher_;
  fetch::Validators page_version_;
  std::vector<fetch::Offer> offers_;
  std::string newer_;  // as fetch::Index has it
};

}  // namespace torchwatch::feed
