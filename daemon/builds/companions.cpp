#include "daemon/builds/companions.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include <spdlog/spdlog.h>

#include "daemon/builds/downloads.h"
#include "storage/base/small_file.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// The only directory that companions share with a build. Their other files are for Python.
constexpr auto shared = "nvidia";
constexpr auto list_name = "companions";

/// "x86_64" of "manylinux_2_28_x86_64".
std::string machine_of(std::string const& platform) {
  constexpr std::string_view with_mark = "x86_64";
  if (platform.ends_with(with_mark)) return std::string{with_mark};
  return platform.substr(platform.rfind('_') + 1);
}

Error cannot(std::string const& what, std::error_code problem) {
  return {ErrorCode::unavailable, what + ": " + problem.message()};
}

Result<> write_list(fs::path const& directory, std::vector<Companion> const& companions) {
  std::string lines;
  for (auto const& [name, version] : companions)
    lines += name + ' ' + version + '\n';
  return write_small_file(directory / list_name, lines);
}

/// Returns a suitable companion that is kept already; the newest of several.
std::optional<Companion> kept(fs::path const& builds, fetch::Requirement const& wanted) {
  std::optional<Companion> best;
  std::optional<fetch::Version> best_version;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator{builds, ignored}) {
    auto const name = entry.path().filename().string();
    if (!name.starts_with(companion_prefix + wanted.name + "-")) continue;
    auto const wheel = fetch::wheel_metadata_of(entry.path());
    if (!wheel || fetch::canonical_name(wheel->name) != wanted.name) continue;
    auto const version = fetch::Version::parse(wheel->version);
    if (!version || !wanted.versions.holds(*version)) continue;
    if (name != folder_of({wanted.name, wheel->version})) continue;
    if (best_version && *version <= *best_version) continue;
    best = Companion{wanted.name, wheel->version};
    best_version = version;
  }
  return best;
}

/// Makes `link` a second name of `file`, unless it exists: some files are in several wheels.
Result<> link_file(fs::path const& file, fs::path const& link) {
  std::error_code problem;
  fs::create_directories(link.parent_path(), problem);
  if (!problem) fs::create_hard_link(file, link, problem);
  if (!problem || problem == std::errc::file_exists) return {};
  return cannot("link " + link.string(), problem);
}

/// Links all shared files of `companion` into `directory`.
Result<> link_all(fs::path const& companion, fs::path const& directory) {
  std::error_code problem;
  if (!fs::exists(companion / shared, problem)) return {};
  for (auto at = fs::recursive_directory_iterator{companion / shared, problem};
       !problem && at != fs::end(at);
       at.increment(problem)) {
    if (!at->is_regular_file() || at->is_symlink()) continue;
    auto const linked = link_file(at->path(), directory / at->path().lexically_relative(companion));
    if (!linked) return linked;
  }
  if (problem) return cannot("read " + companion.string(), problem);
  return {};
}

}  // namespace

std::string folder_of(Companion const& companion) {
  auto folder = companion_prefix + companion.name + "-" + companion.version;
  // Unfinished directories have a dot in their name.
  std::ranges::replace_if(
      folder, [](char c) { return c == '.' || c == '+' || c == '!' || c == '/'; }, '_');
  return folder;
}

std::vector<Companion> companions_listed_in(fs::path const& directory) {
  std::vector<Companion> companions;
  // Recipes may leave any files in their builds, under any name.
  auto const text = read_small_file(directory / list_name);
  if (!text) return companions;
  std::istringstream stream{*text};
  for (Companion companion; stream >> companion.name >> companion.version;)
    companions.push_back(companion);
  return companions;
}

fs::path Companions::builds() const {
  return fs::absolute(options_.state_dir) / "builds";
}

asio::awaitable<Result<>> Companions::bring(fs::path directory) {
  auto const alone = co_await gate_.enter();
  auto const companions = co_await bring_all(directory);
  if (!companions) co_return companions.error();
  for (auto const& companion : *companions) {
    auto const linked = link_all(builds() / folder_of(companion), directory);
    if (!linked) co_return linked.error();
  }
  co_return Result<>{};
}

/// Returns the requirements of the wheel, then theirs. The first requirement of a package counts,
/// so that of the wheel itself wins.
asio::awaitable<Result<std::vector<Companion>>> Companions::bring_all(fs::path directory) {
  std::vector<Companion> companions;
  auto const torch = fetch::wheel_metadata_of(directory);
  if (!torch) co_return torch.error();
  auto const machine = machine_of(torch->platform);
  auto named = fetch::companions_of(*torch, {}, machine);
  if (!named) co_return named.error();
  std::deque<fetch::Requirement> wanted{named->begin(), named->end()};
  while (!wanted.empty()) {
    auto const next = std::move(wanted.front());
    wanted.pop_front();
    if (std::ranges::find(companions, next.name, &Companion::name) != companions.end()) continue;
    auto const companion = co_await bring_one(next, machine, directory, companions);
    if (!companion) co_return companion.error();
    companions.push_back(*companion);
    auto const wheel = fetch::wheel_metadata_of(builds() / folder_of(*companion));
    if (!wheel) co_return wheel.error();
    named = fetch::companions_of(*wheel, next.extras, machine);
    if (!named) co_return named.error();
    wanted.insert(wanted.end(), named->begin(), named->end());
  }
  if (companions.empty()) co_return companions;
  auto const listed = write_list(directory, companions);
  if (!listed) co_return listed.error();
  co_return companions;
}

/// Lists the companion before it is fetched, so that it counts as in use.
asio::awaitable<Result<Companion>> Companions::bring_one(fetch::Requirement wanted,
                                                         std::string machine,
                                                         fs::path directory,
                                                         std::vector<Companion> before) {
  auto const there = kept(builds(), wanted);
  fetch::CompanionFile file;
  if (!there) {
    fetch::CompanionRequest request;
    request.page = question_to(options_.feed, page_of_wheels(options_.feed, wanted.name));
    request.file = download_folder(options_) / "companions.html";
    request.requirement = wanted.text;
    request.machine = std::move(machine);
    auto found = co_await fetcher_.find(std::move(request));
    if (!found)
      co_return Error{ErrorCode::unavailable, found.error().message, found.error().is_of_host};
    file = std::move(*found);
  }
  auto companion = there.value_or(Companion{file.name, file.version});
  before.push_back(companion);
  // Keeps the companions that a killed call had already fetched.
  for (auto const& listed : companions_listed_in(directory))
    if (std::ranges::find(before, listed) == before.end()) before.push_back(listed);
  auto const listed = write_list(directory, before);
  if (!listed) co_return listed.error();
  auto const place = builds() / folder_of(companion);
  std::error_code ignored;
  if (!fs::exists(place, ignored)) {
    auto const fetched = co_await fetch(std::move(file), place);
    if (!fetched) co_return fetched.error();
  }
  co_return companion;
}

asio::awaitable<Result<>> Companions::fetch(fetch::CompanionFile file, fs::path place) {
  if (!is_allowed(file.url, options_.feed))
    co_return Error{ErrorCode::unavailable,
                    "fetch " + file.url + ": feed.hosts does not allow its host"};
  fetch::FetchRequest request;
  request.download = download_of(options_.feed, file.url);
  request.download.sha256 = file.sha256;
  request.file = download_folder(options_) / place.filename();
  request.directory = place;
  request.is_wheel = true;
  spdlog::info("companion_started name={} version={} url={}", file.name, file.version, file.url);
  budget_.make_space_for_another();
  auto const fetched = co_await fetcher_.fetch(std::move(request));
  budget_.make_space();
  if (!fetched) co_return fetched.error();
  if (fetched->download.end == fetch::Downloaded::End::absent)
    co_return Error{ErrorCode::unavailable, "fetch " + file.url + ": the server has no such file"};
  if (!fetched->record_warning.empty())
    spdlog::warn("wheel_record_differs name={} version={} reason=\"{}\"",
                 file.name,
                 file.version,
                 fetched->record_warning);
  spdlog::info("companion_finished name={} version={} bytes={} unpacked_bytes={}",
               file.name,
               file.version,
               fetched->download.bytes,
               fetched->unpacked.bytes);
  co_return Result<>{};
}

}  // namespace torchwatch::builds
