#include "daemon/feed/package_index.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>
#include <sys/utsname.h>

#include "daemon/builds/downloads.h"
#include "daemon/feed/news.h"
#include "daemon/feed/wheel_choice.h"

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

/// Returns the hint for a missing page.
std::string asks_for(config::FeedOptions const& feed) {
  return "; feed.channel is \"" + feed.channel + "\", does the index have that?";
}

/// Returns the reason why a page has nothing to announce. `is_foreign`: its files are on hosts that
/// are not allowed.
std::string why_none(fetch::Index const& index, bool is_foreign) {
  if (is_foreign) return "found no suitable nightly: feed.hosts allows none of their hosts";
  if (index.misfit.empty()) return "found no nightly of torch on it";
  return "found no suitable nightly: feed." + index.misfit;
}

Nightly nightly_of(fetch::Offer const& offer) {
  Nightly nightly;
  nightly.date = offer.package.date;
  nightly.version = offer.package.version;
  nightly.file = PublishedFile{offer.url, offer.sha256, {}, {}};
  return nightly;
}

/// Returns the last edition of each version of the newest date.
std::vector<Nightly> newest_of(std::vector<Nightly> const& known) {
  std::map<std::string, Nightly> by_version;
  for (auto const& nightly : known)
    if (nightly.file && nightly.date == known.back().date)
      by_version.insert_or_assign(nightly.version, nightly);
  std::vector<Nightly> newest;
  for (auto& [version, nightly] : by_version)
    newest.push_back(std::move(nightly));
  return newest;
}

/// True when the page has the digest of a file.
bool has_digest(std::vector<fetch::Offer> const& offers, PublishedFile const& file) {
  return std::ranges::any_of(offers, [&](fetch::Offer const& offer) {
    return offer.url == file.url && !offer.sha256.empty();
  });
}

bool has_validators(fetch::Downloaded const& asked) {
  return !asked.validators.etag.empty() || !asked.validators.last_modified.empty();
}

bool has_other_length(fetch::Downloaded const& asked, PublishedFile const& file) {
  return asked.bytes > 0 && file.bytes > 0 && asked.bytes != file.bytes;
}

/// True when the server reports the known contents, or nothing about them.
bool is_known(fetch::Downloaded const& asked, PublishedFile const& file) {
  auto const& [etag, last_modified] = asked.validators;
  if (has_other_length(asked, file)) return false;
  if (!etag.empty()) return etag == file.etag || std::ranges::count(file.aliases, etag) > 0;
  return last_modified.empty() || last_modified == file.last_modified;
}

bool has_edition(std::vector<Nightly> const& known,
                 Nightly const& nightly,
                 std::string const& sha256) {
  return std::ranges::any_of(known, [&](Nightly const& other) {
    return other.file && other.date == nightly.date && other.version == nightly.version &&
           other.file->sha256 == sha256;
  });
}

}  // namespace

asio::awaitable<Result<Found>> PackageIndex::look() {
  auto const read = co_await read_page();
  if (!read) co_return read.error();
  auto const choice = choose_wheels(offers_, followed());
  Found found;
  std::ranges::transform(choice.followed, std::back_inserter(found.nightlies), nightly_of);
  std::vector<Nightly> others;
  std::ranges::transform(choice.others, std::back_inserter(others), nightly_of);
  auto const known = known_near(others, store_.nightlies());
  for (auto& other : news_in(std::move(others), known, options_.feed.backlog))
    if (was_waited_for(other)) found.nightlies.push_back(std::move(other));
  auto const newest = newest_of(known);
  for (auto const& one : newest) {
    auto again = co_await published_again(one, known);
    if (again) found.nightlies.push_back(std::move(*again));
  }
  found.newer = newer_;
  co_return found;
}

/// Returns the interpreter whose wheels are the nightlies, chosen once per feed.
Interpreter PackageIndex::followed() {
  auto const page = page_of(options_.feed);
  auto const stored = store_.interpreters().of(page);
  if (stored && is_offered(*stored, offers_)) return *stored;
  auto const chosen = interpreter_to_follow(offers_);
  spdlog::info("feed_python_chosen url={} python={} abi={}", page, chosen.python, chosen.abi);
  store_.interpreters().follow(page, chosen);
  return chosen;
}

/// True when a version has lacked a wheel for the followed interpreter long enough to take another
/// one.
bool PackageIndex::was_waited_for(Nightly const& nightly) {
  auto const subject = "wheel " + nightly.version;
  bool const is_first = !store_.retries().find(subject);
  auto const retry =
      store_.retries().note(subject, clock_.now(), "no wheel for the Python that is followed");
  if (is_first)
    spdlog::info("nightly_awaits_python date={} version={} wait_s={}",
                 nightly.date,
                 nightly.version,
                 options_.feed.python_wait.count());
  return retry.last - retry.since >= options_.feed.python_wait;
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
  builds::AllowedHosts const hosts{options_.feed};
  std::erase_if(offers_, [&hosts](fetch::Offer const& offer) {
    bool const is_foreign = !hosts.allow(offer.url);
    if (is_foreign)
      spdlog::warn("feed_link_passed_over url={} reason=\"host not in feed.hosts\"", offer.url);
    return is_foreign;
  });
  if (offers_.empty())
    co_return Error{ErrorCode::unavailable, "feed " + url + ": " + why_none(*index, has_foreign)};
  page_version_ = std::move(index->validators);  // a useless page is read and reported again
  co_return Result<>{};
}

/// Returns the server's current version, unless it is the known one. A failed request is repeated
/// at the next look.
asio::awaitable<std::optional<fetch::Downloaded>> PackageIndex::other_version(
    std::string url, fetch::Validators known) {
  fetch::FetchRequest request;
  request.download = builds::question_to(options_.feed, std::move(url));
  request.download.is_asked_only = true;
  request.download.known = std::move(known);
  request.file = builds::download_folder(options_) / "asked";
  auto const asked = co_await fetcher_.fetch(std::move(request));
  if (!asked || asked->download.end != End::whole) co_return std::nullopt;
  co_return asked->download;
}

/// Downloads the file for its digest. Returns nothing when that fails.
asio::awaitable<std::optional<fetch::Downloaded>> PackageIndex::contents_at(std::string url) {
  auto const file = builds::download_folder(options_) / "compared";
  std::error_code ignored;
  std::filesystem::remove(file, ignored);  // left by a killed look
  fetch::FetchRequest request;
  request.download = builds::download_of(options_.feed, std::move(url));
  request.download.is_durable = false;
  request.file = file;
  auto const fetched = co_await fetcher_.fetch(std::move(request));
  std::filesystem::remove(file, ignored);
  if (!fetched || fetched->download.end != End::whole) co_return std::nullopt;
  co_return fetched->download;
}

/// Returns the nightly with the new contents of its file, if they changed. Where the page has their
/// SHA-256, news_in detects that.
asio::awaitable<std::optional<Nightly>> PackageIndex::published_again(Nightly newest,
                                                                      std::vector<Nightly> known) {
  auto const url = newest.file->url;
  bool const is_suspect = co_await may_have_changed(newest);
  if (!is_suspect) co_return std::nullopt;
  compared_at_ = clock_.now();
  spdlog::info("published_file_compared url={}", url);
  auto const contents = co_await contents_at(url);
  if (!contents) co_return std::nullopt;
  if (contents->sha256 == newest.file->sha256) remember(newest, contents->validators);
  if (has_edition(known, newest, contents->sha256)) co_return std::nullopt;
  Nightly again;
  again.date = newest.date;
  again.version = newest.version;
  again.file = PublishedFile{url, contents->sha256, {}, {}};
  co_return again;
}

/// True when the file must be compared: its length or its version changed.
asio::awaitable<bool> PackageIndex::may_have_changed(Nightly newest) {
  constexpr std::chrono::hours pause{1};  // a cache may have older contents for long
  auto const& file = *newest.file;
  bool const was_downloaded = newest.state != NightlyState::announced && !file.sha256.empty();
  if (!was_downloaded || has_digest(offers_, file) || clock_.now() < compared_at_ + pause)
    co_return false;
  fetch::Validators const known{file.etag, file.last_modified};
  auto const other = co_await other_version(file.url, known);
  if (!other || is_known(*other, file)) co_return false;
  if (has_other_length(*other, file) || !has_validators(*other)) co_return true;
  auto const next = co_await other_version(file.url, other->validators);
  if (next)
    spdlog::warn("feed_version_ignored url={} reason=\"each answer has another\"", file.url);
  co_return !next;
}

/// Stores another version name that the server uses for the contents of a file.
void PackageIndex::remember(Nightly nightly, fetch::Validators const& validators) {
  constexpr std::size_t most = 8;
  auto& file = *nightly.file;
  if (!validators.etag.empty() && validators.etag != file.etag)
    file.aliases.push_back(validators.etag);
  if (file.aliases.size() > most) file.aliases.erase(file.aliases.begin());
  if (!validators.last_modified.empty()) file.last_modified = validators.last_modified;
  store_.nightlies().update(nightly);
}

}  // namespace torchwatch::feed
