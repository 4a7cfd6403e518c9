#include "fetch/index.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "fetch/index_page.h"

namespace torchwatch::fetch {
namespace {

std::string page_in(std::filesystem::path const& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

}  // namespace

Result<Index> look_into(IndexOrder const& order) {
  auto wanted = order.page;
  wanted.most_bytes = largest_page;
  wanted.is_durable = false;
  auto const downloaded = download(wanted, order.file);
  if (!downloaded) return downloaded.error();
  Index index{downloaded->end, downloaded->validators, {}};
  if (index.end != Downloaded::End::whole) return index;
  auto const links = links_of(page_in(order.file), wanted.url);
  std::error_code ignored;
  std::filesystem::remove(order.file, ignored);
  if (!links) return links.error();
  index.offers = offers_in(*links, order.filter);
  auto const too_many = index.offers.size() - std::min(index.offers.size(), most_offers);
  index.offers.erase(index.offers.begin(),
                     std::next(index.offers.begin(), static_cast<std::ptrdiff_t>(too_many)));
  return index;
}

}  // namespace torchwatch::fetch
