#include "daemon/feed/news.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "http/url.h"

namespace torchwatch::feed {
namespace {

constexpr std::size_t week = 7;

std::string name_of(PublishedFile const& file) {
  auto const url = http::Url::parse(file.url);
  return url ? url->file_name() : file.url;
}

/// True when both addresses end in one file name.
bool have_same_name(PublishedFile const& found, PublishedFile const& known) {
  return found.url == known.url || name_of(found) == name_of(known);
}

/// True when the page shows that both have different contents. Files for different Pythons always
/// differ, and are not editions.
bool are_editions(PublishedFile const& found, PublishedFile const& known) {
  return !found.sha256.empty() && !known.sha256.empty() && found.sha256 != known.sha256 &&
         have_same_name(found, known);
}

/// True when both have one date and version, or else commit, as editions of a file do.
bool is_same_nightly(Nightly const& found, Nightly const& known) {
  if (found.date != known.date) return false;
  if (found.file) return known.file && found.version == known.version;
  return found.commit == known.commit;
}

bool is_same(Nightly const& found, Nightly const& known) {
  return is_same_nightly(found, known) && !(found.file && are_editions(*found.file, *known.file));
}

bool is_new(Nightly const& found, std::vector<Nightly> const& known) {
  auto const& newest = known.back().date;
  auto const& first = known[known.size() - std::min(known.size(), week)].date;
  bool const is_late = found.date < newest && found.date > first &&
                       std::ranges::find(known, found.date, &Nightly::date) == known.end();
  if (found.date < newest && !is_late) return false;
  return std::ranges::none_of(known, [&](Nightly const& one) { return is_same(found, one); });
}

bool is_downloaded(PublishedFile const& file) {
  return file.bytes > 0 || !file.etag.empty() || !file.last_modified.empty();
}

/// Updates the address of the file. One that is not downloaded yet also gets the current digest of
/// the page, and may be for another Python.
void follow_file(PublishedFile const& found,
                 Nightly& nightly,
                 std::vector<Nightly> const& editions) {
  bool const has_same_name = have_same_name(found, *nightly.file);
  bool const is_open = nightly.state == NightlyState::announced && !is_downloaded(*nightly.file);
  bool const may_change = is_open && (has_same_name || editions.size() == 1);
  if (!has_same_name && !may_change) return;
  bool const is_known = std::ranges::any_of(
      editions, [&](Nightly const& other) { return other.file->sha256 == found.sha256; });
  bool const has_digest = !found.sha256.empty() || !has_same_name;
  if (may_change && has_digest && !is_known) nightly.file->sha256 = found.sha256;
  nightly.file->url = found.url;
}

}  // namespace

std::vector<Nightly> known_near(std::vector<Nightly> const& found,
                                storage::Nightlies const& nightlies) {
  auto first = nightlies.first_date_of_last(static_cast<int>(week));
  if (!first) return {};
  for (auto const& one : found)
    first = std::min(*first, one.date);
  return nightlies.since(*first);
}

std::vector<Nightly> moved_in(std::vector<Nightly> const& found,
                              std::vector<Nightly> const& known) {
  std::vector<Nightly> moved;
  for (auto const& one : found) {
    std::vector<Nightly> editions;
    auto const is_one = [&](Nightly const& other) {
      return is_same_nightly(one, other);
    };
    std::ranges::copy_if(known, std::back_inserter(editions), is_one);
    for (auto nightly : editions) {
      if (one.file) follow_file(*one.file, nightly, editions);
      if (!one.prefix.empty() && !nightly.file) nightly.prefix = one.prefix;
      auto const before = std::ranges::find(editions, nightly.id, &Nightly::id);
      if (before->prefix != nightly.prefix || before->file != nightly.file)
        moved.push_back(std::move(nightly));
    }
  }
  return moved;
}

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
