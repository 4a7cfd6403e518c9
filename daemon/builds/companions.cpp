#include "daemon/builds/companions.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include <spdlog/spdlog.h>

#include "config/needs.h"
#include "daemon/builds/downloads.h"
#include "storage/base/printable.h"
#include "storage/base/small_file.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// The directory with the libraries of companions.
constexpr auto shared = "nvidia";
/// The package that is the build's own.
constexpr auto torch_package = "torch";
constexpr auto list_name = "companions";
/// The beginning of the names of torchwatch's files in unpacked wheels.
constexpr auto own_files = ".torchwatch";
/// The packages that are built with each nightly.
constexpr std::array<char const*, 2> optional_packages{"torchvision", "torchaudio"};

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
  for (auto const& [name, version, variant] : companions)
    lines += name + ' ' + version + (variant.empty() ? "" : ' ' + variant) + '\n';
  return write_small_file(directory / list_name, lines);
}

/// Lists a companion before it is fetched, so that it counts as in use. Keeps the companions that
/// an earlier call had fetched, because it may have been killed.
Result<> list_also(CompanionChoice const& choice, Companion const& companion) {
  auto listed = choice.companions;
  listed.push_back(companion);
  for (auto const& earlier : companions_listed_in(choice.directory))
    if (std::ranges::find(listed, earlier) == listed.end()) listed.push_back(earlier);
  return write_list(choice.directory, listed);
}

/// Returns the companion in `place`, if it fulfills the wish.
std::optional<Companion> suitable_in(fs::path const& place, fetch::CompanionWish const& wish) {
  auto const wheel = fetch::wheel_metadata_of(place);
  if (!wheel || fetch::canonical_name(wheel->name) != wish.requirement.name) return std::nullopt;
  auto const version = fetch::Version::parse(wheel->version);
  if (!version || !wish.requirement.versions.holds(*version)) return std::nullopt;
  if (!wheel->version.ends_with(wish.version_end)) return std::nullopt;
  if (!wish.target.python.empty() && !fetch::fits(*wheel, wish.target)) return std::nullopt;
  Companion const companion{wish.requirement.name, wheel->version, fetch::variant_of(wheel->tags)};
  if (place.filename() != folder_of(companion)) return std::nullopt;
  return companion;
}

/// Returns the newest suitable companion that is kept already.
std::optional<Companion> newest_kept(fs::path const& builds, fetch::CompanionWish const& wish) {
  std::optional<Companion> best;
  std::optional<fetch::Version> best_version;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator{builds, ignored}) {
    auto const name = entry.path().filename().string();
    if (!name.starts_with(companion_prefix + wish.requirement.name + "-")) continue;
    auto const companion = suitable_in(entry.path(), wish);
    if (!companion) continue;
    auto const version = fetch::Version::parse(companion->version);
    if (best_version && *version <= *best_version) continue;
    best = companion;
    best_version = version;
  }
  return best;
}

/// Returns a suitable companion that is kept already. Prefers one that the build lists, so that a
/// build never gets files of two versions.
std::optional<Companion> kept(fs::path const& builds,
                              CompanionChoice const& choice,
                              fetch::CompanionWish const& wish) {
  for (auto const& listed : companions_listed_in(choice.directory))
    if (listed.name == wish.requirement.name)
      if (auto const found = suitable_in(builds / folder_of(listed), wish)) return found;
  return newest_kept(builds, wish);
}

/// Returns the needs of a wheel with `extras`.
Result<std::vector<CompanionNeed>> needs_of(fetch::WheelMetadata const& wheel,
                                            std::set<std::string> extras,
                                            CompanionChoice const& choice) {
  constexpr auto any_python = "3.12";
  auto const& python = choice.torch.python;
  fetch::MarkerEnvironment const environment{
      python.empty() ? any_python : python, choice.target.machine, std::move(extras)};
  auto const required = fetch::companions_of(wheel, environment, choice.scope);
  if (!required) return required.error();
  std::vector<CompanionNeed> needs;
  for (auto const& requirement : *required)
    needs.push_back({requirement, wheel.name + " " + wheel.version});
  return needs;
}

bool is_fulfilled_by(std::string const& version, fetch::Requirement const& requirement) {
  auto const parsed = fetch::Version::parse(version);
  return !parsed || requirement.versions.holds(*parsed);
}

/// Returns why `need` contradicts what was chosen before, for people. Empty when it does not.
std::string conflict_of(CompanionNeed const& need, CompanionChoice const& choice) {
  auto const& wanted = need.requirement;
  if (choice.scope == fetch::CompanionScope::libraries) return {};
  if (wanted.name == torch_package && !is_fulfilled_by(choice.torch.version, wanted))
    return printable(need.by + " requires " + wanted.text + ", found torch " +
                     choice.torch.version);
  auto const chosen = std::ranges::find(choice.companions, wanted.name, &Companion::name);
  auto const reason = choice.needs.find(wanted.name);
  if (chosen == choice.companions.end() || reason == choice.needs.end()) return {};
  if (is_fulfilled_by(chosen->version, wanted)) return {};
  return printable(need.by + " requires " + wanted.text + ", but " + chosen->name + " " +
                   chosen->version + " was chosen because " + reason->second.by + " requires " +
                   reason->second.requirement.text);
}

/// Returns the requirement of torch that the wheel in `place` has and this torch does not fulfill.
/// Empty when it has none.
std::string misfit_of(fs::path const& place, CompanionChoice const& choice) {
  auto const wheel = fetch::wheel_metadata_of(place);
  if (!wheel) return wheel.error().message;
  auto const needs = needs_of(*wheel, {}, choice);
  if (!needs) return needs.error().message;
  for (auto const& need : *needs)
    if (need.requirement.name == torch_package)
      if (auto conflict = conflict_of(need, choice); !conflict.empty()) return conflict;
  return {};
}

/// True when another attempt may succeed, or the host is at fault.
bool is_temporary(Error const& error) {
  return error.is_of_host || error.code == ErrorCode::unavailable ||
         error.code == ErrorCode::cancelled || error.code == ErrorCode::internal;
}

/// Makes `link` a second name of `file`, unless it exists: some files are in several wheels.
Result<> link_file(fs::path const& file, fs::path const& link) {
  std::error_code problem;
  fs::create_directories(link.parent_path(), problem);
  if (!problem) fs::create_hard_link(file, link, problem);
  if (!problem || problem == std::errc::file_exists) return {};
  return cannot("link " + link.string(), problem);
}

/// Returns the place of a packed file in a site-packages. A wheel keeps some of its files in
/// NAME.data: packages in purelib and platlib; scripts and headers, which Python does not import.
fs::path unpacked_place_of(fs::path const& file) {
  auto part = file.begin();
  if (!part->string().ends_with(".data")) return file;
  ++part;
  if (part == file.end() || (*part != "purelib" && *part != "platlib")) return {};
  fs::path place;
  for (++part; part != file.end(); ++part)
    place /= *part;
  return place;
}

/// Returns the place of a companion's file in a build. Empty for a file that stays out.
fs::path place_in_build(fs::path const& file, fetch::CompanionScope scope) {
  auto const top = file.begin()->string();
  if (scope == fetch::CompanionScope::libraries) return top == shared ? file : fs::path{};
  if (top == torch_package || top.starts_with(own_files)) return {};
  return unpacked_place_of(file);
}

/// Links the files of `companion` into `directory`.
Result<> link_all(fs::path const& companion,
                  fs::path const& directory,
                  fetch::CompanionScope scope) {
  std::error_code problem;
  for (auto at = fs::recursive_directory_iterator{companion, problem};
       !problem && at != fs::end(at);
       at.increment(problem)) {
    if (!at->is_regular_file() || at->is_symlink()) continue;
    auto const place = place_in_build(at->path().lexically_relative(companion), scope);
    if (place.empty()) continue;
    auto const linked = link_file(at->path(), directory / place);
    if (!linked) return linked;
  }
  if (problem) return cannot("read " + companion.string(), problem);
  return {};
}

}  // namespace

std::string folder_of(Companion const& companion) {
  auto folder = companion_prefix + companion.name + "-" + companion.version;
  if (!companion.variant.empty()) folder += "-" + companion.variant;
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
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words{line};
    Companion companion;
    if (!(words >> companion.name >> companion.version)) continue;
    words >> companion.variant;
    companions.push_back(companion);
  }
  return companions;
}

fs::path Companions::builds() const {
  return fs::absolute(options_.state_dir) / "builds";
}

asio::awaitable<Result<>> Companions::bring(fs::path directory) {
  auto const alone = co_await gate_.enter();
  auto choice = begin_choice(directory);
  if (!choice) co_return choice.error();
  auto const chosen = co_await choose(*choice);
  if (!chosen) co_return chosen.error();
  for (auto const& companion : choice->companions) {
    auto const linked = link_all(builds() / folder_of(companion), directory, choice->scope);
    if (!linked) co_return linked.error();
  }
  co_return Result<>{};
}

Result<CompanionChoice> Companions::begin_choice(fs::path const& directory) const {
  auto torch = fetch::wheel_metadata_of(directory, torch_package);
  if (!torch) return torch.error();
  CompanionChoice choice;
  choice.directory = directory;
  choice.target.machine = machine_of(torch->platform);
  if (config::needs_python(options_)) {
    auto const& [python, abi, platform] = torch->tags.front();
    if (torch->python.empty())
      return Error{
          ErrorCode::corrupt,
          printable(torch->name + " " + torch->version + ": WHEEL: found the Python tag " + python +
                    ", a suite with \"needs\": \"python\" needs a wheel for one "
                    "Python, such as cp312")};
    choice.scope = fetch::CompanionScope::python;
    choice.target.python = python;
    choice.target.abi = abi;
  }
  choice.torch = std::move(*torch);
  return choice;
}

/// Chooses companions for the requirements of the wheel, then for theirs. The first requirement of
/// a package counts, so that of the wheel itself wins.
asio::awaitable<Result<>> Companions::choose(CompanionChoice& choice) {
  auto needs = needs_of(choice.torch, {}, choice);
  if (!needs) co_return needs.error();
  std::deque<CompanionNeed> wanted{needs->begin(), needs->end()};
  std::set<std::pair<std::string, std::set<std::string>>> seen;
  while (!wanted.empty()) {
    auto const next = std::move(wanted.front());
    wanted.pop_front();
    auto const conflict = conflict_of(next, choice);
    if (!conflict.empty()) co_return Error{ErrorCode::unavailable, conflict};
    auto const& requirement = next.requirement;
    bool const is_new = seen.insert({requirement.name, requirement.extras}).second;
    if (!is_new || requirement.name == torch_package) continue;
    auto const companion = co_await bring_required(choice, next);
    if (!companion) co_return companion.error();
    auto const wheel = fetch::wheel_metadata_of(builds() / folder_of(*companion));
    if (!wheel) co_return wheel.error();
    needs = needs_of(*wheel, requirement.extras, choice);
    if (!needs) co_return needs.error();
    wanted.insert(wanted.end(), needs->begin(), needs->end());
  }
  for (auto const* const package : optional_packages) {
    if (choice.scope == fetch::CompanionScope::libraries) break;
    auto const added = co_await bring_optional(choice, package);
    if (!added) co_return added.error();
  }
  if (choice.companions.empty()) co_return Result<>{};
  co_return write_list(choice.directory, choice.companions);
}

asio::awaitable<Result<Companion>> Companions::bring_required(CompanionChoice& choice,
                                                              CompanionNeed const& need) {
  auto const chosen = std::ranges::find(choice.companions, need.requirement.name, &Companion::name);
  if (chosen != choice.companions.end()) co_return *chosen;
  fetch::CompanionWish wish;
  wish.requirement = need.requirement;
  wish.target = choice.target;
  auto const companion = co_await bring_one(choice, std::move(wish));
  if (!companion) {
    auto error = companion.error();
    // The index may get the file later.
    bool const is_of_index = error.code == ErrorCode::not_found || error.code == ErrorCode::refused;
    if (is_of_index) error.code = ErrorCode::unavailable;
    error.message += "; " + printable(need.by) + " requires it";
    co_return error;
  }
  choice.companions.push_back(*companion);
  choice.needs.emplace(companion->name, need);
  co_return *companion;
}

/// Adds a package that is built with each nightly, if it was built with this one.
asio::awaitable<Result<>> Companions::bring_optional(CompanionChoice& choice, std::string package) {
  auto const date = choice.torch.version.rfind(".dev");
  if (date == std::string::npos) co_return Result<>{};
  fetch::CompanionWish wish;
  wish.requirement = fetch::parse_requirement(package).value();
  wish.target = choice.target;
  wish.version_end = choice.torch.version.substr(date);
  auto const companion = co_await bring_one(choice, std::move(wish));
  if (!companion && is_temporary(companion.error())) co_return companion.error();
  auto const problem =
      companion ? misfit_of(builds() / folder_of(*companion), choice) : companion.error().message;
  if (problem.empty())
    choice.companions.push_back(*companion);
  else
    spdlog::info("companion_left_out name={} torch={} reason=\"{}\"",
                 package,
                 choice.torch.version,
                 problem);
  co_return Result<>{};
}

asio::awaitable<Result<Companion>> Companions::bring_one(CompanionChoice const& choice,
                                                         fetch::CompanionWish wish) {
  auto const there = kept(builds(), choice, wish);
  if (!there) co_return co_await find_and_fetch(choice, std::move(wish));
  auto const listed = list_also(choice, *there);
  if (!listed) co_return listed.error();
  co_return *there;
}

/// A page may lack the Pythons of its files. Then only a fetched file shows that it does not fit,
/// and the next older version is tried.
asio::awaitable<Result<Companion>> Companions::find_and_fetch(CompanionChoice const& choice,
                                                              fetch::CompanionWish wish) {
  while (true) {
    auto file = co_await find(wish);
    if (!file) co_return file.error();
    Companion const companion{file->name, file->version, file->variant};
    auto const listed = list_also(choice, companion);
    if (!listed) co_return listed.error();
    auto const place = builds() / folder_of(companion);
    std::error_code ignored;
    if (!fs::exists(place, ignored)) {
      auto const fetched = co_await fetch(std::move(*file), place);
      if (!fetched) co_return fetched.error();
    }
    auto const wheel = fetch::wheel_metadata_of(place);
    if (!wheel) co_return wheel.error();
    if (wish.target.python.empty() || fetch::fits(*wheel, wish.target)) co_return companion;
    spdlog::info("companion_unsuited name={} version={} python={} requires_python=\"{}\"",
                 companion.name,
                 companion.version,
                 wish.target.python,
                 printable(wheel->requires_python));
    wish.unsuited.push_back(companion.version);
  }
}

/// Fails with not_found when the index has no file, and with refused when its page is wrong.
asio::awaitable<Result<fetch::CompanionFile>> Companions::find(fetch::CompanionWish const& wish) {
  fetch::CompanionRequest request;
  request.page = question_to(options_.feed, page_of_wheels(options_.feed, wish.requirement.name));
  request.file = download_folder(options_) / "companions.html";
  request.requirement = wish.requirement.text;
  request.target = wish.target;
  request.version_end = wish.version_end;
  request.unsuited = wish.unsuited;
  auto found = co_await fetcher_.find(std::move(request));
  if (found) co_return found;
  auto error = found.error();
  if (error.code == ErrorCode::corrupt)
    error.code = ErrorCode::refused;
  else if (error.code != ErrorCode::not_found)
    error.code = ErrorCode::unavailable;
  co_return error;
}

asio::awaitable<Result<>> Companions::fetch(fetch::CompanionFile file, fs::path place) {
  if (!AllowedHosts{options_.feed}.allow(file.url))
    co_return Error{ErrorCode::refused,
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
    co_return Error{ErrorCode::not_found, "fetch " + file.url + ": the server has no such file"};
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
