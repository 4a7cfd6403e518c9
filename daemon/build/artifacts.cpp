#include "daemon/build/artifacts.h"

#include <chrono>
#include <string_view>
#include <system_error>

#include <spdlog/spdlog.h>

#include "daemon/build/manifest.h"

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
  auto const started = std::chrono::steady_clock::now();
  fetch::FetchOrder order;
  order.download.url = url;
  order.download.hosts = {fetch::any_host};
  order.download.limit = timeout_;
  order.download.attempts = 4;
  order.file = fs::absolute(work) / "archive";
  order.directory = fs::absolute(work) / "unpacked";
  auto const unpacked = order.directory;
  std::error_code problem;
  fs::remove_all(unpacked, problem);
  fs::create_directories(work, problem);
  if (problem) co_return failed("make " + work.string() + ": " + problem.message());
  auto const fetched = co_await fetcher_.fetch(std::move(order));
  if (!fetched) co_return failed(fetched.error().message);
  if (fetched->download.end == fetch::Downloaded::End::absent) co_return std::nullopt;
  auto prefix = prefix_in(unpacked);
  if (!prefix)
    co_return failed("holds no build.json, neither at its top nor in its only directory");
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - started;
  spdlog::info("artifact_downloaded url={} seconds={:.1f}", url, seconds.count());
  co_return prefix;
}

}  // namespace torchwatch::build
