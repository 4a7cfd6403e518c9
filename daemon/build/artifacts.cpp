#include "daemon/build/artifacts.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string_view>
#include <system_error>

#include <spdlog/spdlog.h>

#include "daemon/build/manifest.h"
#include "daemon/build/published_digest.h"
#include "http/url.h"

namespace torchwatch::build {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view placeholder = "{commit}";

bool is_url(std::string_view place) {
  return place.starts_with("http://") || place.starts_with("https://");
}

/// `directory`, or the only one in it, whichever holds build.json.
std::optional<fs::path> prefix_in(fs::path const& directory) {
  std::error_code ignored;
  if (fs::exists(directory / "build.json", ignored)) return directory;
  std::optional<fs::path> only;
  for (auto const& entry : fs::directory_iterator{directory, ignored}) {
    if (entry.is_symlink(ignored) || !entry.is_directory(ignored)) continue;
    if (only) return std::nullopt;
    only = entry.path();
  }
  if (only && fs::exists(*only / "build.json", ignored)) return only;
  return std::nullopt;
}

std::string place_of(CommitSha const& commit, std::string place) {
  for (auto at = place.find(placeholder); at != std::string::npos; at = place.find(placeholder, at))
    place.replace(at, placeholder.size(), commit.hex);
  return place;
}

/// For a file that may lie anywhere.
fetch::FetchOrder order_for(std::string url, fs::path file, std::chrono::seconds limit) {
  fetch::FetchOrder order;
  order.download.url = std::move(url);
  order.download.hosts = {fetch::any_host};
  order.download.limit = limit;
  order.download.attempts = 4;
  order.file = std::move(file);
  return order;
}

/// The digest in a file, or nothing when there is no file. `place`: for the error.
Result<std::optional<std::string>> digest_in(fs::path const& file, std::string const& place) {
  std::error_code missing;
  if (!fs::is_regular_file(file, missing)) return std::nullopt;
  constexpr std::size_t longest = 4096;
  std::string text(longest, '\0');
  std::ifstream stream{file, std::ios::binary};
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  auto digest = sha256_in(text);
  if (!digest)
    return Error{ErrorCode::corrupt,
                 place +
                     ": it is no SHA-256, allowed are 64 hexadecimal digits, alone or as "
                     "sha256sum writes them"};
  return digest;
}

}  // namespace

std::optional<Build> Artifacts::find(CommitSha const& commit) const {
  if (places_.build.empty() || is_url(places_.build)) return std::nullopt;
  auto const place = place_of(commit, places_.build);
  std::error_code ignored;
  if (!fs::exists(place, ignored)) return std::nullopt;
  auto found = read_build(place);
  if (found && found->manifest.commit == commit) return std::move(*found);
  spdlog::warn("artifact_refused place={} reason=\"{}\"",
               place,
               found ? "it is of commit " + found->manifest.commit.hex : found.error().message);
  return std::nullopt;
}

/// What an archive must have; `file`: where it may come.
asio::awaitable<Result<std::optional<std::string>>> Artifacts::published_digest(
    CommitSha commit, fs::path file) const {
  auto const wanted = places_.sha256.empty() ? digest_beside(places_.build) : places_.sha256;
  auto place = place_of(commit, wanted);
  if (!is_url(place)) co_return digest_in(place, place);
  co_return co_await read_digest(std::move(place), std::move(file));
}

asio::awaitable<Result<std::optional<std::string>>> Artifacts::read_digest(std::string url,
                                                                           fs::path file) const {
  constexpr std::int64_t most_bytes = 4096;
  constexpr std::chrono::seconds most_time{60};
  auto order = order_for(url, file, std::min(timeout_, most_time));
  order.download.most_bytes = most_bytes;
  order.download.is_durable = false;
  auto const fetched = co_await fetcher_.fetch(std::move(order));
  if (!fetched) co_return fetched.error();
  if (fetched->download.end == fetch::Downloaded::End::absent) co_return std::nullopt;
  co_return digest_in(file, http::without_secrets(url));
}

asio::awaitable<Result<bool>> Artifacts::is_there(std::string url, fs::path file) const {
  auto order = order_for(std::move(url), std::move(file), timeout_);
  order.download.is_asked_only = true;
  auto const asked = co_await fetcher_.fetch(std::move(order));
  if (!asked) co_return asked.error();
  co_return asked->download.end != fetch::Downloaded::End::absent;
}

asio::awaitable<Result<std::optional<fs::path>>> Artifacts::download(CommitSha commit,
                                                                     fs::path work) const {
  if (!is_url(places_.build)) co_return std::nullopt;
  auto const url = place_of(commit, places_.build);
  auto const failed = [&url](std::string const& reason, ErrorCode code = ErrorCode::unavailable) {
    return Error{code, "artifact " + http::without_secrets(url) + ": " + reason};
  };
  auto const started = std::chrono::steady_clock::now();
  auto order = order_for(url, fs::absolute(work) / "archive", timeout_);
  order.directory = fs::absolute(work) / "unpacked";
  auto const digest_file = fs::absolute(work) / "archive.sha256";
  auto const unpacked = order.directory;
  std::error_code problem;
  fs::create_directories(work, problem);
  if (problem) co_return failed("make " + work.string() + ": " + problem.message());
  for (auto const& old : {unpacked, order.file, digest_file})
    fs::remove_all(old, problem);
  auto const digest = co_await published_digest(commit, digest_file);
  if (!digest) co_return failed(digest.error().message, digest.error().code);
  if (!*digest && !places_.sha256.empty()) {
    auto const there = co_await is_there(url, order.file);
    if (there && !*there) co_return std::nullopt;
    co_return failed("it has no SHA-256 at " +
                     http::without_secrets(place_of(commit, places_.sha256)));
  }
  order.download.sha256 = digest->value_or("");
  auto const fetched = co_await fetcher_.fetch(std::move(order));
  if (!fetched) co_return failed(fetched.error().message, fetched.error().code);
  if (fetched->download.end == fetch::Downloaded::End::absent) co_return std::nullopt;
  auto prefix = prefix_in(unpacked);
  if (!prefix)
    co_return failed("holds no build.json, neither at its top nor in its only directory",
                     ErrorCode::corrupt);
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - started;
  spdlog::info("artifact_downloaded url={} seconds={:.1f} sha256={}",
               http::without_secrets(url),
               seconds.count(),
               digest->value_or("none"));
  co_return prefix;
}

}  // namespace torchwatch::build
