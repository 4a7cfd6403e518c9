#include "daemon/builds/packages.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/git/history.h"
#include "config/needs.h"
#include "daemon/builds/downloads.h"
#include "daemon/builds/manifest.h"
#include "fetch/carry_out.h"
#include "fetch/package_contents.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// True when another attempt would give the same error. A server that denies access may allow it
/// later: it denies it while a file is being published.
bool is_for_good(ErrorCode code) {
  return code == ErrorCode::corrupt || code == ErrorCode::invalid_argument;
}

Error not_yet(Error error) {
  error.code = ErrorCode::unavailable;
  return error;
}

BuildAttempt without_build(std::string why) {
  BuildAttempt attempt;
  attempt.note = std::move(why);
  return attempt;
}

bool is_wheel(std::string const& url) {
  return url.ends_with(".whl");
}

/// A release as the branch names it: its date and its trunk commit.
Result<std::optional<bisect::NightlyRelease>> release_in(config::Options const& options,
                                                         CommitSha const& release) {
  auto const history = bisect::GitHistory::open(options.source.repository);
  if (!history) return history.error();
  constexpr int newest = 400;  // a year, enough for a start with an old index
  auto const releases =
      history->nightly_releases(options.feed.branch, newest, options.source.remote);
  if (!releases) return releases.error();
  auto const found = std::ranges::find(*releases, release, &bisect::NightlyRelease::release);
  if (found == releases->end()) return std::nullopt;
  return *found;
}

/// A job that starts after midnight gives its file the next day's date. The file's own commit
/// counts, even where the other files of that date were built from another.
void check_date(Nightly const& nightly, bisect::NightlyRelease const& release) {
  if (release.date == nightly.date) return;
  spdlog::warn("nightly_of_another_date date={} version={} release={} release_date={} commit={}",
               nightly.date,
               nightly.version,
               short_of(release.release),
               release.date,
               short_of(release.trunk));
}

/// Stores the digest of the downloaded contents. The server's names of a file that an interrupted
/// call had downloaded are lost.
void note(fetch::Downloaded const& came, PublishedFile& file) {
  file.sha256 = came.sha256;
  file.bytes = came.bytes;
  file.etag = came.validators.etag;
  file.last_modified = came.validators.last_modified;
}

BuildManifest manifest_of(Nightly const& nightly, config::Options const& options) {
  BuildManifest manifest;
  if (is_wheel(nightly.file->url) && config::needs_python(options)) manifest.kind = "python";
  manifest.commit = nightly.commit;
  manifest.version = nightly.version;
  manifest.date = nightly.date;
  manifest.variant = options.feed.channel;
  return manifest;
}

/// The error about the contents of a file. A cache may send the older contents of a new edition for
/// a while. But an edition that was fetched once does not return: the error is then permanent.
Error of_contents(Nightly const& nightly, Error error) {
  bool const are_others = error.message.find(fetch::other_contents) != std::string::npos;
  if (are_others && nightly.state != NightlyState::announced) error.code = ErrorCode::corrupt;
  return error;
}

/// Names the channel where two versions differ in it: "cpu" of "2.9.0.dev20250902+cpu".
std::string channels_of(std::string const& found, std::string const& named) {
  auto const channel_of = [](std::string const& version) {
    auto const plus = version.find('+');
    return plus == std::string::npos ? std::string{"none"} : version.substr(plus + 1);
  };
  if (channel_of(found) == channel_of(named)) return {};
  return "; it is of channel " + channel_of(found) + ", not " + channel_of(named);
}

/// Returns the contents of `directory`, if its version is that of the file's name.
Result<fetch::PackageContents> checked_contents(Nightly const& nightly, fs::path const& directory) {
  auto contents = fetch::contents_of(directory);
  if (!contents || contents->version == nightly.version) return contents;
  return Error{ErrorCode::corrupt,
               nightly.file->url + ": found version " + contents->version +
                   " in it, its name says " + nightly.version +
                   channels_of(contents->version, nightly.version)};
}

}  // namespace

asio::awaitable<Result<BuildAttempt>> Packages::bring(Nightly& nightly, Trunk trunk) {
  auto const builds = fs::absolute(options_.state_dir) / "builds";
  auto const directory = builds / ("nightly-" + std::to_string(nightly.id.value));
  std::error_code ignored;
  if (!fs::exists(directory, ignored)) {
    fs::create_directories(builds, ignored);
    auto const fetched = co_await fetch(nightly, directory);
    if (!fetched && !is_for_good(fetched.error().code)) co_return not_yet(fetched.error());
    if (!fetched) co_return without_build(fetched.error().message);
  } else if (nightly.state == NightlyState::announced) {
    // The service may have been killed before it stored which contents came.
    auto const answer = fetch::kept_answer(directory);
    if (answer) note(answer->download, *nightly.file);
  }
  co_return co_await read(nightly, directory, trunk);
}

asio::awaitable<Result<>> Packages::fetch(Nightly& nightly, fs::path directory) {
  auto const url = nightly.file->url;
  fetch::FetchRequest request;
  request.download = download_of(options_.feed, url);
  request.download.sha256 = nightly.file->sha256;
  request.file = download_folder(options_) / directory.filename();
  request.directory = directory;
  request.is_wheel = is_wheel(url);
  spdlog::info("fetch_started date={} url={}", nightly.date, url);
  budget_.make_space_for_another();
  auto const fetched = co_await fetcher_.fetch(std::move(request));
  budget_.make_space();
  if (!fetched) co_return of_contents(nightly, fetched.error());
  auto const& came = fetched->download;
  if (came.end == fetch::Downloaded::End::absent)
    co_return Error{ErrorCode::unavailable, "fetch " + url + ": the server has no such file"};
  note(came, *nightly.file);
  if (!fetched->record_warning.empty())
    spdlog::warn(
        "wheel_record_differs date={} reason=\"{}\"", nightly.date, fetched->record_warning);
  spdlog::info("fetch_finished date={} bytes={} resumed_from={} unpacked_bytes={}",
               nightly.date,
               came.bytes,
               came.resumed_from,
               fetched->unpacked.bytes);
  co_return Result<>{};
}

/// Returns the complete build in `directory`; build.json is written last.
asio::awaitable<Result<BuildAttempt>> Packages::read(Nightly& nightly,
                                                     fs::path directory,
                                                     Trunk wanted) {
  auto const contents = checked_contents(nightly, directory);
  if (!contents) {
    std::error_code ignored;
    fs::remove_all(directory, ignored);
    co_return without_build(contents.error().message);
  }
  // A measured build keeps the commit under which it was measured.
  if (nightly.commit.hex.empty()) {
    auto const noted = co_await note_commit(nightly, contents->release_commit, wanted);
    if (!noted) co_return noted.error();
  }
  nightly.release_commit = contents->release_commit;
  if (is_wheel(nightly.file->url)) {
    auto const accompanied = co_await companions_.bring(directory);
    if (!accompanied && is_for_good(accompanied.error().code))
      co_return without_build(accompanied.error().message);
    if (!accompanied) co_return not_yet(accompanied.error());
  }
  auto const made = co_await make_programs(nightly, directory, contents->prefix);
  if (!made && is_for_good(made.error().code)) co_return without_build(made.error().message);
  if (!made) co_return made.error();
  auto build = write_build(contents->prefix, manifest_of(nightly, options_));
  if (!build) co_return build.error();
  BuildAttempt attempt;
  attempt.build = std::move(*build);
  co_return attempt;
}

/// Makes what the suites run from the build: bytecode of its packages, and a compiled worker.
asio::awaitable<Result<>> Packages::make_programs(Nightly const& nightly,
                                                  fs::path directory,
                                                  fs::path prefix) {
  if (is_wheel(nightly.file->url) && config::needs_python(options_)) {
    auto const compiled = co_await workers_.compile_bytecode(directory);
    if (!compiled) co_return compiled.error();
  }
  if (!config::needs_compiled_worker(options_)) co_return Result<>{};
  co_return co_await workers_.make(prefix);
}

/// Stores the trunk commit and the date of a release. Where the clone does not name the trunk
/// commit, the release commit replaces it. The nightly is then measured, but not bisected.
asio::awaitable<Result<>> Packages::note_commit(Nightly& nightly, CommitSha release, Trunk wanted) {
  if (options_.source.repository.empty()) {
    nightly.commit = release;
    co_return Result<>{};
  }
  auto found = release_in(options_, release);
  if (!found || !*found) {
    auto const refreshed = co_await git_fetch_.refresh();
    found = release_in(options_, release);
    bool const is_known = found && *found;
    if (!is_known && !refreshed && wanted == Trunk::awaited) co_return refreshed.error();
  }
  if (found && *found) {
    check_date(nightly, **found);
    nightly.commit = (*found)->trunk;
    nightly.release_date = (*found)->date;
    co_return Result<>{};
  }
  spdlog::warn("release_without_trunk_commit release={} branch={} reason=\"{}\"",
               short_of(release),
               options_.feed.branch,
               found ? "the branch does not name it" : found.error().message);
  nightly.commit = release;
  co_return Result<>{};
}

}  // namespace torchwatch::builds
