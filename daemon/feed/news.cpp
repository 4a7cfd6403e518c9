#include "daemon/feed/news.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace torchwatch::feed {
namespace {

constexpr std::size_t week = 7;

bool has_version(PublishedFile const& file) {
  return !file.etag.empty() || !file.last_modified.empty();
}

/// Whether both are one file with the same contents, as far as is known of one that comes from a
/// page.
bool is_same(PublishedFile const& found, PublishedFile const& known) {
  if (found.url != known.url || found.sha256 != known.sha256) return false;
  return !has_version(found) || found == known;
}

bool is_same(Nightly const& found, Nightly const& known) {
  if (found.file) return known.file && is_same(*found.file, *known.file);
  return found.date == known.date && found.commit == known.commit;
}

bool is_new(Nightly const& found, std::vector<Nightly> const& known) {
  auto const& newest = known.back().date;
  auto const& first = known[known.size() - std::min(known.size(), week)].date;
  bool const is_late = found.date < newest && found.date > first &&
                       std::ranges::find(known, found.date, &Nightly::date) == known.end();
  if (found.date < newest && !is_late) return false;
  return std::ranges::none_of(known, [&](Nightly const& one) { return is_same(found, one); });
}

}  // namespace

std::vector<Nightly> news_in(std::vector<Nightly> found,
                             std::vector<Nightly> const& known,
                             int backlog) {
  std::ranges::stable_sort(found, {}, &Nightly::date);
  if (known.empty()) {
    auto const keep = std::min(found.size(), static_cast<std::size_t>(backlog));
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(keep));
  } else {
    std::erase_if(found, [&](Nightly const& one) { return !is_new(one, known); });
  }
  return found;
}

}  // namespace torchwatch::feed
