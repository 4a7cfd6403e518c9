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

/// More files of nightlies than an index ever had for one kind of machine; the oldest of what is
/// more are left out.
inline constexpr std::size_t most_offers = 5000;

/// A page that came.
struct Page {
  Downloaded::End end{};
  Validators validators;
  std::vector<PageLink> links;  ///< empty unless it came whole
};

/// Downloads a page of links, if it is another one than the known, and reads it; `file` is where it
/// lies meanwhile, and gone afterwards. Errors as download's and links_of's. Blocks.
Result<Page> read_page(DownloadRequest request, std::filesystem::path const& file);

/// An index page to look into, and what is wanted of it.
struct IndexRequest {
  DownloadRequest page;  ///< `known`: the version that was looked into before
  /// Where the page lies while it is read; gone afterwards.
  std::filesystem::path file;
  PackageFilter filter;
};

/// What an index has.
struct Index {
  Downloaded::End end{};
  Validators validators;
  std::vector<Offer> offers;  ///< as offers_in's, at most `most_offers`; empty unless it came whole
  std::string misfit{};       ///< as why_none_fits's
  std::string newer{};        ///< as newer_for_other_pythons's
};

/// Reads the page and picks the nightlies on it. Errors as read_page's. Blocks.
Result<Index> look_into(IndexRequest const& request);

}  // namespace torchwatch::fetch
