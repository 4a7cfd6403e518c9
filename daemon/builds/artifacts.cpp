#include "daemon/builds/artifacts.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string_view>
#include <system_error>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <spdlog/spdlog.h>

#include "daemon/builds/manifest.h"
#include "http/url.h"
#include "storage/base/digest.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view placeholder = "{commit}";

bool is_url(std::string_view place) {
  return place.starts_with("http://") || place.starts_with("https://");
}

/// The URL at which the SHA-256 of an archive usually lies: ARCHIVE.sha256, before the query.
std::string digest_beside(std::string const& url) {
  auto const path_end = std::min(url.find_first_of("?#"), url.size());
  return url.substr(0, path_end) + ".sha256" + url.substr(path_end);
}

/// Reads the digest from the contents of its file: what `sha256sum ARCHIVE` prints, or the
/// hexadecimal digits alone. Returns it in lower case; nothing when the file holds anything else.
std::optional<std::string> sha256_in(std::string_view text) {
  auto const line = boost::trim_copy(std::string{text});
  if (line.find('\n') != std::string::npos) return std::nullopt;
  auto const digits_end = std::min(line.find(' '), line.size());
  auto digits = boost::to_lower_copy(line.substr(0, digits_end));
  if (!is_sha256(digits)) return std::nullopt;
  return digits;
}

/// Returns `directory` or the only directory in it, the one that holds build.json.
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

/// Returns the request for a file, which may be on any host.
fetch::FetchRequest request_for(std::string url, fs::path file, std::chrono::seconds limit) {
  fetch::FetchRequest request;
  request.download.url = std::move(url);
  request.download.hosts = {fetch::any_host};
  request.download.limit = limit;
  request.download.attempts = 4;
  request.file = std::move(file);
  return request;
}

/// Returns the digest in a file, or nothing when there is no file. `place`: for the error.
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
                     ": not a SHA-256; allowed are 64 hexadecimal digits, alone or as "
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

/// Returns the published digest that an archive must have; nothing when none is published. `file`:
/// the path for its download.
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
  auto request = request_for(url, file, std::min(timeout_, most_time));
  request.download.most_bytes = most_bytes;
  request.download.is_durable = false;
  auto const fetched = co_await fetcher_.fetch(std::move(request));
  if (!fetched) co_return fetched.error();
  if (fetched->download.end == fetch::Downloaded::End::absent) co_return std::nullopt;
  co_return digest_in(file, http::without_secrets(url));
}

asio::awaitable<Result<bool>> Artifacts::is_there(std::string url, fs::path file) const {
  auto request = request_for(std::move(url), std::move(file), timeout_);
  request.download.is_asked_only = true;
  auto const asked = co_await fetcher_.fetch(std::move(request));
  if (!asked) co_return asked.error();
  co_return asked->download.end != fetch::Downloaded::End::absent;
}

asio::awaitable<Result<std::optional<fs::path>>> Artifacts::download(CommitSha commit,
                                                                     fs::path work) const {
  if (!is_url(places_.build)) co_return std::nullopt;
  auto const url = place_of(commit, places_.build);
  auto const artifact = "artifact " + http::without_secrets(url);
  auto const failed = [&artifact](std::string reason, ErrorCode code = ErrorCode::unavailable) {
    return within(artifact, Error{code, std::move(reason)});
  };
  auto const started = std::chrono::steady_clock::now();
  auto request = request_for(url, fs::absolute(work) / "archive", timeout_);
  request.directory = fs::absolute(work) / "unpacked";
  auto const digest_file = fs::absolute(work) / "archive.sha256";
  auto const unpacked = request.directory;
  std::error_code problem;
  fs::create_directories(work, problem);
  if (problem) co_return failed("make " + work.string() + ": " + problem.message());
  for (auto const& old : {unpacked, request.file, digest_file})
    fs::remove_all(old, problem);
  auto const digest = co_await published_digest(commit, digest_file);
  if (!digest) co_return within(artifact, digest.error());
  if (!*digest && !places_.sha256.empty()) {
    auto const there = co_await is_there(url, request.file);
    if (there && !*there) co_return std::nullopt;
    co_return failed("it has no SHA-256 at " +
                     http::without_secrets(place_of(commit, places_.sha256)));
  }
  request.download.sha256 = digest->value_or("");
  auto const fetched = co_await fetcher_.fetch(std::move(request));
  if (!fetched) co_return within(artifact, fetched.error());
  bool const is_absent = fetched->download.end == fetch::Downloaded::End::absent;
  if (is_absent && *digest)
    co_return failed("its SHA-256 is published, and the server has no such file yet");
  if (is_absent) co_return std::nullopt;
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

}  // namespace torchwatch::builds
