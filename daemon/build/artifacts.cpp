#include "daemon/build/artifacts.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include <spdlog/spdlog.h>

#include "daemon/async/tool.h"
#include "daemon/build/manifest.h"

namespace torchwatch::build {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

using std::chrono::steady_clock;

constexpr std::string_view placeholder = "{commit}";

bool is_url(std::string_view place) {
  return place.starts_with("http://") || place.starts_with("https://");
}

/// A program must be given some time, even when none is left.
std::chrono::seconds until(steady_clock::time_point deadline) {
  auto const left =
      std::chrono::duration_cast<std::chrono::seconds>(deadline - steady_clock::now());
  return std::max(left, std::chrono::seconds{1});
}

/// False when the server has no such file. Gives up on one that does not answer, or sends nothing
/// for a minute; what looks like passing trouble is tried again.
asio::awaitable<Result<bool>> run_curl(asio::any_io_executor executor,
                                       std::string url,
                                       fs::path file,
                                       std::chrono::seconds limit) {
  process::Command curl;
  curl.argv = {"curl",
               "--disable",
               "--fail",
               "--silent",
               "--show-error",
               "--globoff",
               "--location",
               "--proto",
               "=http,https",
               "--proto-redir",
               url.starts_with("https://") ? "=https" : "=http,https",
               "--connect-timeout",
               "30",
               "--speed-time",
               "60",
               "--retry",
               "3",
               "--write-out",
               "%{http_code}\n",
               "--output",
               file.string(),
               "--url",
               url};
  auto const run = co_await async::run_tool(std::move(executor), std::move(curl), limit);
  if (!run) co_return run.error();
  if (run->is_good()) co_return true;
  if (run->output == "404\n" || run->output == "410\n") co_return false;
  co_return Error{ErrorCode::unavailable, async::why_it_failed(*run)};
}

/// bsdtar refuses what would end up outside of `directory`, and fails then.
asio::awaitable<Result<>> unpack(asio::any_io_executor executor,
                                 fs::path archive,
                                 fs::path directory,
                                 std::chrono::seconds limit) {
  process::Command bsdtar;
  bsdtar.argv = {"bsdtar",
                 "--extract",
                 "--no-same-owner",
                 "--no-same-permissions",
                 "--file",
                 archive.string(),
                 "--directory",
                 directory.string()};
  auto const run = co_await async::run_tool(std::move(executor), std::move(bsdtar), limit);
  if (!run) co_return run.error();
  if (run->is_good()) co_return Result<>{};
  co_return Error{ErrorCode::unavailable, async::why_it_failed(*run)};
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

}  // namespace

std::string Artifacts::place_of(CommitSha const& commit) const {
  auto place = place_;
  for (auto at = place.find(placeholder); at != std::string::npos; at = place.find(placeholder, at))
    place.replace(at, placeholder.size(), commit.hex);
  return place;
}

std::optional<Build> Artifacts::find(CommitSha const& commit) const {
  if (place_.empty() || is_url(place_)) return std::nullopt;
  auto const place = place_of(commit);
  std::error_code ignored;
  if (!fs::exists(place, ignored)) return std::nullopt;
  auto found = read_build(place);
  if (found && found->manifest.commit == commit) return std::move(*found);
  spdlog::warn("artifact_refused place={} reason=\"{}\"",
               place,
               found ? "it is of commit " + found->manifest.commit.hex : found.error().message);
  return std::nullopt;
}

asio::awaitable<Result<std::optional<fs::path>>> Artifacts::download(CommitSha commit,
                                                                     fs::path work) const {
  if (!is_url(place_)) co_return std::nullopt;
  auto const url = place_of(commit);
  auto const failed = [&url](std::string const& reason) {
    return Error{ErrorCode::unavailable, "artifact " + url + ": " + reason};
  };
  auto const started = steady_clock::now();
  auto const archive = fs::absolute(work) / "archive";
  auto const unpacked = fs::absolute(work) / "unpacked";
  std::error_code problem;
  fs::remove_all(unpacked, problem);
  fs::create_directories(unpacked, problem);
  if (problem) co_return failed("make " + unpacked.string() + ": " + problem.message());

  auto const is_there = co_await run_curl(executor_, url, archive, timeout_);
  if (!is_there) co_return failed(is_there.error().message);
  if (!*is_there) co_return std::nullopt;
  auto const left = until(started + timeout_);
  auto const done = co_await unpack(executor_, archive, unpacked, left);
  fs::remove(archive, problem);
  if (!done) co_return failed(done.error().message);
  auto prefix = prefix_in(unpacked);
  if (!prefix)
    co_return failed("holds no build.json, neither at its top nor in its only directory");
  std::chrono::duration<double> const seconds = steady_clock::now() - started;
  spdlog::info("artifact_downloaded url={} seconds={:.1f}", url, seconds.count());
  co_return prefix;
}

}  // namespace torchwatch::build
