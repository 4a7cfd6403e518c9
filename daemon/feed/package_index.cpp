#include "daemon/feed/package_index.h"

#include <algorithm>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>
#include <sys/utsname.h>

#include "daemon/builds/downloads.h"

namespace torchwatch::feed {
namespace asio = boost::asio;

namespace {

using End = fetch::Downloaded::End;

std::string machine_of_this_host() {
  utsname host{};
  return ::uname(&host) == 0 ? static_cast<char const*>(host.machine) : "";
}

bool is_for_wheels(config::FeedOptions const& feed) {
  return feed.kind == config::FeedKind::wheels;
}

std::string page_of(config::FeedOptions const& feed) {
  return is_for_wheels(feed) ? builds::page_of_wheels(feed, "torch")
                             : feed.url + "/libtorch/nightly/" + feed.channel + "/";
}

fetch::PackageFilter filter_of(config::FeedOptions const& feed) {
  return {.kind = is_for_wheels(feed) ? fetch::PackageKind::wheel : fetch::PackageKind::libtorch,
          .variant = is_for_wheels(feed) ? feed.channel : "",
          .machine = feed.machine.empty() ? machine_of_this_host() : feed.machine,
          .python = feed.python,
          .abi = feed.abi};
}

/// Of a page that is not there.
std::string asks_for(config::FeedOptions const& feed) {
  return "; feed.channel is \"" + feed.channel + "\", does the index have that?";
}

/// Why a page has nothing to announce. `is_foreign`: its files are on hosts that are not allowed.
std::string why_none(fetch::Index const& index, bool is_foreign) {
  if (is_foreign) return "found no nightly that fits: feed.hosts allows none of their hosts";
  if (index.misfit.empty()) return "found no nightly of torch on it";
  return "found no nightly that fits: feed." + index.misfit;
}

Nightly nightly_of(fetch::Offer const& offer) {
  Nightly nightly;
  nightly.date = offer.package.date;
  nightly.version = offer.package.version;
  nightly.file = PublishedFile{offer.url, offer.sha256, {}, {}};
  return nightly;
}

}  // namespace

asio::awaitable<Result<Found>> PackageIndex::look(std::vector<Nightly> known) {
  auto const read = co_await read_page();
  if (!read) co_return read.error();
  Found found;
  std::ranges::transform(offers_, std::back_inserter(found.nightlies), nightly_of);
  found.newer = newer_;
  if (known.empty()) co_return found;
  auto again = co_await published_again(known.back());
  if (again) found.nightlies.push_back(std::move(*again));
  co_return found;
}

asio::awaitable<Result<>> PackageIndex::read_page() {
  auto const url = page_of(options_.feed);
  fetch::IndexRequest request;
  request.page = builds::question_to(options_.feed, url);
  request.page.known = page_version_;
  request.file = builds::download_folder(options_) / "index.html";
  request.filter = filter_of(options_.feed);
  auto index = co_await fetcher_.look_into(std::move(request));
  // S3 answers 403 for what is missing.
  if (!index && index.error().message.ends_with(" 403"))
    co_return Error{index.error().code, index.error().message + asks_for(options_.feed)};
  if (!index) co_return index.error();
  if (index->end == End::absent)
    co_return Error{ErrorCode::unavailable,
                    "feed " + url + ": the server has no such page" + asks_for(options_.feed)};
  if (index->end == End::unchanged) co_return Result<>{};
  offers_ = std::move(index->offers);
  newer_ = std::move(index->newer);
  bool const has_foreign = !offers_.empty();
  std::erase_if(offers_, [this](fetch::Offer const& offer) {
    bool const is_foreign = !builds::is_allowed(offer.url, options_.feed);
    if (is_foreign)
      spdlog::warn("feed_link_passed_over url={} reason=\"host not in feed.hosts\"", offer.url);
    return is_foreign;
  });
  if (offers_.empty())
    co_return Error{ErrorCode::unavailable, "feed " + url + ": " + why_none(*index, has_foreign)};
  page_version_ = std::move(index->validators);  // a useless one is read again, and told of again
  co_return Result<>{};
}

/// Of a file on the server. Who cannot be asked now is asked again with the next look.
asio::awaitable<std::optional<fetch::Validators>> PackageIndex::version_other_than(
    std::string url, fetch::Validators known) {
  fetch::FetchRequest request;
  request.download = builds::question_to(options_.feed, std::move(url));
  request.download.is_asked_only = true;
  request.download.known = std::move(known);
  request.file = builds::download_folder(options_) / "asked";
  auto const asked = co_await fetcher_.fetch(std::move(request));
  if (!asked || asked->download.end != End::whole) co_return std::nullopt;
  co_return asked->download.validators;
}

/// The same nightly with its file's other contents, if it has others by now. Where the page has the
/// contents' SHA-256, it tells.
asio::awaitable<std::optional<Nightly>> PackageIndex::published_again(Nightly newest) {
  auto const file = newest.file.value_or(PublishedFile{});
  bool const has_version = !file.etag.empty() || !file.last_modified.empty();
  if (!has_version || !file.sha256.empty()) co_return std::nullopt;
  fetch::Validators const known{file.etag, file.last_modified};
  auto const other = co_await version_other_than(file.url, known);
  if (!other) co_return std::nullopt;
  if (co_await version_other_than(file.url, *other)) {
    spdlog::warn("feed_version_ignored url={} reason=\"each answer has another\"", file.url);
    co_return std::nullopt;
  }
  Nightly again;
  again.date = newest.date;
  again.version = newest.version;
  again.file = PublishedFile{file.url, "", other->etag, other->last_modified};
  co_return again;
}

}  // namespace torchwatch::feed
