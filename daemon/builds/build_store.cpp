#include "daemon/builds/build_store.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <dirent.h>
#include <spdlog/fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "daemon/builds/build_references.h"
#include "daemon/builds/companions.h"
#include "daemon/builds/logs.h"
#include "daemon/measure/alarm.h"
#include "storage/base/digest.h"
#include "storage/base/remove_tree.h"

namespace torchwatch::builds {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::uintmax_t most_bytes_of_logs = std::uintmax_t{1} << 30;
constexpr auto removed = ".removed";
constexpr auto unfinished = ".part";
/// Begins the names of caches of builds in other directories.
constexpr std::string_view elsewhere = "elsewhere-";

/// The names of the entries of `folder`; none when it cannot be read. Read without std::filesystem,
/// which makes a path of each name: there can be hundreds of builds.
std::set<std::string> names_in(fs::path const& folder) {
  std::set<std::string> names;
  std::unique_ptr<DIR, int (*)(DIR*)> const entries{::opendir(folder.c_str()), &::closedir};
  if (!entries) return names;
  while (dirent const* const entry = ::readdir(entries.get()))
    names.insert(static_cast<char const*>(entry->d_name));
  names.erase(".");
  names.erase("..");
  return names;
}

bool is_companion(std::string const& name) {
  return name.starts_with(companion_prefix);
}

/// The bytes of all files below `directory`. Files that a build shares with its companions count
/// for the companions; files that vanish meanwhile do not count.
std::int64_t size_of(fs::path const& directory) {
  std::int64_t bytes = 0;
  bool const has_companions = !companions_listed_in(directory).empty();
  std::error_code problem;
  for (auto at = fs::recursive_directory_iterator{directory, problem};
       !problem && at != fs::end(at);
       at.increment(problem)) {
    std::error_code ignored;
    if (at->is_symlink(ignored) || !at->is_regular_file(ignored)) continue;
    if (has_companions && at->hard_link_count(ignored) > 1) continue;
    auto const size = at->file_size(ignored);
    if (!ignored) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

fs::path caches_folder_of(config::Options const& options) {
  return retention_policy_of(options).folder.parent_path() / "caches";
}

/// True when nothing was added to a directory for a month.
bool is_forgotten(fs::path const& directory) {
  constexpr std::chrono::days most{30};
  std::error_code problem;
  auto const written = fs::last_write_time(directory, problem);
  return !problem && fs::file_time_type::clock::now() - written > most;
}

DiskSpace disk_space_of(config::BuildsOptions const& options, fs::path const& folder) {
  DiskSpace space;
  space.quota = options.quota_mib * mib;
  space.keep_free = options.keep_free_mib * mib;
  std::error_code problem;
  auto const disk = fs::space(folder, problem);
  space.free = problem ? space.keep_free : static_cast<std::int64_t>(disk.available);
  return space;
}

std::int64_t size_of_newest(std::vector<KeptBuild> builds) {
  std::erase_if(builds, [](KeptBuild const& build) { return is_companion(build.name); });
  auto const newest = std::ranges::max_element(builds, {}, &KeptBuild::made_at);
  return newest == builds.end() ? 0 : newest->bytes;
}

}  // namespace

void BuildStore::make_space_for_another() {
  auto const builds = refresh();
  auto space = disk_space_of(options_.builds, retention_policy_of(options_).folder);
  space.next_build = size_of_newest(builds);
  remove_beyond(space, builds);
}

void BuildStore::make_space() {
  prune();
}

std::vector<Removal> BuildStore::prune() {
  auto const builds = refresh();
  auto pruned =
      remove_beyond(disk_space_of(options_.builds, retention_policy_of(options_).folder), builds);
  Alarm alarm;
  alarm.kind = AlarmKind::builds_need_space;
  alarm.detail = pruned.shortage + "; the rest is in use: see torchwatch builds list";
  alarm.raised_at = clock_.now();
  measure::set_alarm(store_, !pruned.shortage.empty(), alarm);
  return std::move(pruned.removals);
}

/// Returns the removed builds, and the limit that is still exceeded.
Pruning BuildStore::remove_beyond(DiskSpace const& space, std::vector<KeptBuild> const& builds) {
  if (has_space(builds, space)) return {};
  auto const references = read_references(store_, retention_policy_of(options_), clock_.now());
  auto pruning = plan_pruning(builds, users_of(builds, references), space, clock_.now());
  std::erase_if(pruning.removals, [this](Removal const& removal) {
    auto const gone = take_away(removal.build, removal.reason);
    if (!gone) spdlog::warn("build_not_removed reason=\"{}\"", gone.error().message);
    return !gone;
  });
  return pruning;
}

/// Updates the table `kept_build` to match the directory. Returns the builds in it, by name.
std::vector<KeptBuild> BuildStore::refresh() {
  auto names = names_in(retention_policy_of(options_).folder);
  delete_half_work(names);
  auto builds = store_.kept_builds().all();
  std::erase_if(builds, [&](KeptBuild const& build) {
    bool const is_gone = names.erase(build.name) == 0;
    if (is_gone) store_.kept_builds().remove(build.name);
    return is_gone;
  });
  for (auto const& name : names)
    if (name.find('.') == std::string::npos) builds.push_back(record(name, clock_.now()));
  std::ranges::sort(builds, {}, &KeptBuild::name);
  return builds;
}

KeptBuild BuildStore::record(std::string const& name, Timestamp made_at) {
  KeptBuild build;
  build.name = name;
  build.bytes = size_of(retention_policy_of(options_).folder / name) +
                size_of(caches_folder_of(options_) / name);
  build.made_at = made_at;
  build.used_at = clock_.now();
  store_.kept_builds().record(build);
  return build;
}

/// Deletes the caches of builds that were removed. `builds`: the names of those that exist.
void BuildStore::delete_orphaned_caches(std::set<std::string> const& builds) {
  auto const folder = caches_folder_of(options_);
  std::error_code ignored;  // tried again by the next call
  for (auto const& name : names_in(folder)) {
    bool const is_needed =
        name.starts_with(elsewhere) ? !is_forgotten(folder / name) : builds.contains(name);
    if (!is_needed) remove_tree(folder / name, ignored);
  }
}

/// Deletes the remains of killed removals, the downloads of nightlies that were given up, and old
/// logs of recipes and compilers. `names`: the entries of the builds' directory.
void BuildStore::delete_half_work(std::set<std::string> const& names) {
  std::error_code ignored;  // tried again by the next call
  auto const folder = retention_policy_of(options_).folder;
  for (auto const& name : names)
    if (name.ends_with(removed) || (name.ends_with(unfinished) && !is_on_its_way(name)))
      remove_tree(folder / name, ignored);
  auto const downloads = folder.parent_path() / "downloads";
  for (auto const& name : names_in(downloads))
    if ((name.starts_with("nightly-") || is_companion(name)) && !is_on_its_way(name))
      remove_tree(downloads / name, ignored);
  delete_orphaned_caches(names);
  prune_logs(folder.parent_path() / "logs",
             std::chrono::days{std::max(options_.builds.incident_days, 1)},
             most_bytes_of_logs);
}

/// True when `name` may be in the middle of a fetch: a nightly that is announced or wanted back, or
/// a companion that a build lists.
bool BuildStore::is_on_its_way(std::string const& name) const {
  auto const stem = name.substr(0, name.find('.'));
  auto const lists_it = [&stem](auto const& of_build) {
    return std::ranges::find(of_build.second, stem) != of_build.second.end();
  };
  if (is_companion(name))
    return std::ranges::any_of(companions_in(retention_policy_of(options_).folder), lists_it);
  auto const is_of = [&stem](NightlyId id) {
    return stem == "nightly-" + std::to_string(id.value);
  };
  auto const is_awaited = [&is_of](Nightly const& nightly) {
    return nightly.state == NightlyState::announced && is_of(nightly.id);
  };
  return std::ranges::any_of(store_.nightlies().all(), is_awaited) ||
         std::ranges::any_of(store_.kept_builds().wanted(), is_of, &WantedBuild::nightly);
}

std::string BuildStore::name_of(std::string const& prefix) const {
  return name_in(retention_policy_of(options_).folder, prefix);
}

std::string BuildStore::caches_of(Build const& build) const {
  constexpr std::size_t digits = 16;
  auto name = name_of(build.prefix);
  if (name.empty()) {
    Sha256 digest;
    digest.add(build.prefix);
    digest.add(build.manifest.commit.hex);
    name = std::string{elsewhere} + digest.hex().substr(0, digits);
  }
  return (caches_folder_of(options_) / name).string();
}

void BuildStore::use(std::string const& prefix) {
  constexpr std::chrono::hours grain{1};
  auto const name = name_of(prefix);
  if (name.empty()) return;
  auto const known = store_.kept_builds().find(name);
  if (known && clock_.now() - known->used_at < grain) return;
  record(name, known ? known->made_at : clock_.now());
}

Result<KeptBuild> BuildStore::pin(std::string const& name, std::optional<Pin> pin) {
  refresh();
  if (!store_.kept_builds().pin(name, pin))
    return Error{ErrorCode::not_found, "no build is named \"" + name + "\""};
  spdlog::info(
      "build_{} name={} who=\"{}\"", pin ? "pinned" : "unpinned", name, pin ? pin->who : "");
  return *store_.kept_builds().find(name);
}

Result<KeptBuild> BuildStore::remove(std::string const& name) {
  refresh();
  auto const build = store_.kept_builds().find(name);
  if (!build) return Error{ErrorCode::not_found, "no build is named \"" + name + "\""};
  auto const all_users =
      users_of(store_.kept_builds().all(),
               read_references(store_, retention_policy_of(options_), clock_.now()));
  auto const users = all_users.find(name);
  if (users != all_users.end())
    return Error{ErrorCode::refused,
                 fmt::format("build {} is in use by {}", name, fmt::join(users->second, ", "))};
  auto const gone = take_away(*build, "on request");
  if (!gone) return gone.error();
  return *build;
}

Result<> BuildStore::take_away(KeptBuild const& build, std::string const& reason) {
  auto const place = retention_policy_of(options_).folder / build.name;
  auto const grave = fs::path{place.string() + removed};
  std::error_code problem;
  fs::rename(place, grave, problem);
  if (problem)
    return Error{ErrorCode::unavailable, "remove " + place.string() + ": " + problem.message()};
  store_.kept_builds().remove(build.name);
  std::chrono::sys_days const used_on = std::chrono::floor<std::chrono::days>(build.used_at);
  spdlog::info("build_removed name={} size=\"{}\" unused_days={} reason=\"{}\"",
               build.name,
               size_text(build.bytes),
               (std::chrono::floor<std::chrono::days>(clock_.now()) - used_on).count(),
               reason);
  remove_tree(grave, problem);
  if (problem) spdlog::warn("remove {}: {}", grave.string(), problem.message());
  delete_orphaned_caches(names_in(retention_policy_of(options_).folder));
  return {};
}

}  // namespace torchwatch::builds
