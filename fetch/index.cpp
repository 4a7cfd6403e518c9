#include "fetch/index.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

namespace torchwatch::fetch {
namespace {

std::string page_in(std::filesystem::path const& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

}  // namespace

Result<Page> read_page(DownloadRequest request, std::filesystem::path const& file) {
  request.most_bytes = largest_page;
  request.is_durable = false;
  request.may_be_encoded = true;
  auto const downloaded = download(request, file);
  if (!downloaded) return downloaded.error();
  Page page{downloaded->end, downloaded->validators, {}};
  if (page.end != Downloaded::End::whole) return page;
  auto links = links_of(page_in(file), request.url);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (!links) return links.error();
  page.links = std::move(*links);
  return page;
}

Result<Index> look_into(IndexRequest const& request) {
  auto const page = read_page(request.page, request.file);
  if (!page) return page.error();
  Index index{page->end, page->validators, offers_in(page->links, request.filter)};
  if (index.offers.empty()) index.misfit = why_none_fits(page->links, request.filter);
  index.newer = newer_for_other_pythons(page->links, request.filter);
  auto const too_many = index.offers.size() - std::min(index.offers.size(), most_offers);
  index.offers.erase(index.offers.begin(),
                     std::next(index.offers.begin(), static_cast<std::ptrdiff_t>(too_many)));
  return index;
}

}  // namespace torchwatch::fetch
