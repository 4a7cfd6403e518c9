#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "fetch/download.h"
#include "fetch/index_page.h"
#include "fetch/offers.h"
#include "storage/base/result.h"

namespace torchwatch::fetch {

/// The largest number of offers, more than an index ever had for one kind of machine. Of more, the
/// oldest are left out.
inline constexpr std::size_t most_offers = 5000;

/// The result of reading a page of links.
struct Page {
  Downloaded::End end{};
  Validators validators;
  std::vector<PageLink> links;  ///< empty unless `end` is `whole`
};

/// Downloads and reads a page of links, unless the server has the known version. `file`: temporary
/// file for the page, removed afterwards. Errors are those of download() and links_of(). Blocks.
Result<Page> read_page(DownloadRequest request, std::filesystem::path const& file);

/// A request for the nightlies on an index page.
struct IndexRequest {
  DownloadRequest page;        ///< `known`: the version that was read before
  std::filesystem::path file;  ///< temporary file for the page; removed afterwards
  PackageFilter filter;
};

/// The nightlies of an index.
struct Index {
  Downloaded::End end{};
  Validators validators;
  std::vector<Offer> offers;  ///< offers_in(), at most `most_offers`; empty unless `end` is `whole`
  std::string misfit{};       ///< why_none_fits()
  std::string newer{};        ///< newer_for_other_pythons()
};

/// Reads the page and returns the nightlies on it. Errors are those of read_page(). Blocks.
Result<Index> look_into(IndexRequest const& request);

}  // namespace torchwatch::fetch
