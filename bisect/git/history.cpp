#include "bisect/git/history.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <git2.h>
#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>

#include "bisect/git/encoding.h"

namespace torchwatch::bisect {
namespace {

struct FreeTree {
  void operator()(git_tree* tree) const { git_tree_free(tree); }
};

struct FreeDiff {
  void operator()(git_diff* diff) const { git_diff_free(diff); }
};

struct FreeIndex {
  void operator()(git_index* index) const { git_index_free(index); }
};

struct FreeOdb {
  void operator()(git_odb* odb) const { git_odb_free(odb); }
};

struct FreeObject {
  void operator()(git_object* object) const { git_object_free(object); }
};

struct FreeConfig {
  void operator()(git_config* config) const { git_config_free(config); }
};

struct FreeConfigIterator {
  void operator()(git_config_iterator* iterator) const { git_config_iterator_free(iterator); }
};

constexpr std::string_view extension_prefix = "extensions.";

/// A repository extension that does not affect the objects that are read here.
struct Extension {
  std::string_view name;
  std::string_view value;  ///< the value that is allowed; empty for any
};

constexpr std::array<Extension, 6> readable_extensions{{{"objectformat", "sha1"},
                                                        {"partialclone", ""},
                                                        {"preciousobjects", ""},
                                                        {"refstorage", "files"},
                                                        {"relativeworktrees", ""},
                                                        {"worktreeconfig", ""}}};

std::string text_of(char const* text) {
  return text == nullptr ? std::string{} : text;
}

CommitSha sha_of(git_commit const& commit) {
  return {git_oid_tostr_s(git_commit_id(&commit))};
}

/// The commit's time, limited to the years 1970 to 9999. An author can write any number there.
Timestamp time_of(git_commit const& commit) {
  constexpr std::int64_t last = 253'402'300'799;
  return Timestamp{
      std::chrono::seconds{std::clamp<std::int64_t>(git_commit_time(&commit), 0, last)}};
}

// git_commit_summary caches its result in the commit, so the reference is mutable.
Commit describe(git_commit& commit) {
  auto const encoding = text_of(git_commit_message_encoding(&commit));
  auto const* author = git_commit_author(&commit);
  auto const name = text_of(author->name) + " <" + text_of(author->email) + ">";
  return Commit{.sha = sha_of(commit),
                .subject = utf8_of(text_of(git_commit_summary(&commit)), encoding),
                .author = utf8_of(name, encoding),
                .time = time_of(commit),
                .pull_request = pull_request_of(text_of(git_commit_message(&commit)))};
}

ErrorCode code_of(int status) {
  switch (status) {
    case GIT_ENOTFOUND:
      return ErrorCode::not_found;
    case GIT_EAMBIGUOUS:
    case GIT_EINVALIDSPEC:
    case GIT_EPEEL:
      return ErrorCode::invalid_argument;
    default:
      return ErrorCode::internal;
  }
}

/// The git directory of a working tree: its .git directory, or the one that a .git file of
/// `git worktree add` names. `path` itself without either.
std::filesystem::path git_directory_of(std::filesystem::path const& path) {
  auto const inner = path / ".git";
  std::error_code ignored;
  if (std::filesystem::is_directory(inner, ignored)) return inner;
  std::ifstream link{inner};
  std::string word;
  std::string target;
  if (link >> word >> std::ws && word == "gitdir:" && std::getline(link, target))
    return path / target;
  return path;
}

bool is_readable(git_config_entry const& setting) {
  std::string_view const name = setting.name;
  if (!name.starts_with(extension_prefix)) return true;
  auto const known = std::ranges::find(
      readable_extensions, name.substr(extension_prefix.size()), &Extension::name);
  if (known == readable_extensions.end()) return false;
  return known->value.empty() || known->value == text_of(setting.value);
}

/// Lists the readable extensions for an error: "objectformat = sha1, partialclone".
std::string list_of_readable_extensions() {
  std::string list;
  for (auto const& [name, value] : readable_extensions) {
    list += (list.empty() ? "" : ", ") + std::string{name};
    if (!value.empty()) list += " = " + std::string{value};
  }
  return list;
}

/// Adds one changed file or submodule.
void add_change(CommitChanges& changes, git_diff_delta const& delta) {
  auto const is_pin = [](git_diff_file const& file) {
    return file.mode == GIT_FILEMODE_COMMIT;
  };
  auto const& before = delta.old_file;
  auto const& after = delta.new_file;
  if (is_pin(before) || is_pin(after)) {
    auto const hash = [&](git_diff_file const& file) {
      return is_pin(file) ? text_of(git_oid_tostr_s(&file.id)) : std::string{};
    };
    changes.pins.push_back({after.path, hash(before), hash(after)});
    return;
  }
  changes.paths.emplace_back(before.path);
  if (changes.paths.back() != after.path) changes.paths.emplace_back(after.path);
}

/// The last error of libgit2, in one line.
std::string last_failure() {
  auto const* failure = git_error_last();
  auto text = failure == nullptr ? std::string{"unknown failure"} : text_of(failure->message);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

/// Allows libgit2 to open repositories with the readable extensions, and those of other users. By
/// default it refuses them (1.5 refuses extensions only when it searches for the repository). That
/// is safe: libgit2 runs no programs from a repository's settings. git does, but checks the owner.
GitHistory::Library::Library() {
  git_libgit2_init();
  std::array<char const*, readable_extensions.size()> extensions{};
  std::ranges::transform(readable_extensions, extensions.begin(), [](Extension const& extension) {
    return extension.name.data();
  });
  git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions.data(), extensions.size());
  git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
}

GitHistory::Library::~Library() {
  git_libgit2_shutdown();
}

void GitHistory::Free::operator()(git_repository* repository) const {
  git_repository_free(repository);
}

void GitHistory::Free::operator()(git_commit* commit) const {
  git_commit_free(commit);
}

Error GitHistory::failed(std::string const& doing, int status) const {
  return Error{code_of(status), "git " + path_ + ": " + doing + ": " + last_failure()};
}

Result<GitHistory> GitHistory::open(std::string const& path) {
  GitHistory history{path};
  git_repository* repository = nullptr;
  // Opened as a bare repository: git_repository_open_ext of libgit2 1.5 leaks 20 KB for each
  // setting of a repository with extensions.
  int status = git_repository_open_bare(&repository, git_directory_of(path).c_str());
  history.repository_.reset(repository);
  if (status == 0) status = history.write_to_memory();
  if (status < 0) return history.failed("open", status);
  auto const checked = history.check_extensions();
  if (!checked) return checked.error();
  return history;
}

Result<GitHistory> GitHistory::borrow(std::string const& path, std::string const& lender) {
  auto const lending = open(lender);
  if (!lending) return lending.error();
  GitHistory history{path};
  git_repository* repository = nullptr;
  constexpr unsigned is_bare = 1;
  int status = git_repository_init(&repository, path.c_str(), is_bare);
  history.repository_.reset(repository);
  if (status == 0) status = history.read_objects_of(*lending);
  if (status < 0) return history.failed("borrow from " + lender, status);
  return history;
}

Result<GitHistory::CommitHandle> GitHistory::find(CommitSha const& sha) const {
  git_oid id{};
  if (!is_commit_sha(sha.hex) || git_oid_fromstr(&id, sha.hex.c_str()) < 0) {
    return Error{ErrorCode::invalid_argument,
                 "git " + path_ + ": \"" + sha.hex + "\" is not 40 lower-case hexadecimal digits"};
  }
  git_commit* commit = nullptr;
  int const status = git_commit_lookup(&commit, repository_.get(), &id);
  if (status < 0) return failed("find commit " + sha.hex, status);
  return CommitHandle{commit};
}

Result<GitHistory::CommitHandle> GitHistory::parent_of(git_commit const& commit,
                                                       unsigned number) const {
  git_commit* parent = nullptr;
  int const status = git_commit_parent(&parent, &commit, number);
  if (status < 0) return failed("find parent of commit " + sha_of(commit).hex, status);
  return CommitHandle{parent};
}

/// The first parent that is `ancestor` or descends from it. A single parent is not checked.
Result<GitHistory::CommitHandle> GitHistory::step_back(git_commit const& commit,
                                                       git_commit const& ancestor) const {
  auto const parents = git_commit_parentcount(&commit);
  if (parents == 1) return parent_of(commit);
  auto const* sought = git_commit_id(&ancestor);
  for (unsigned number = 0; number < parents; ++number) {
    auto const* parent = git_commit_parent_id(&commit, number);
    if (git_oid_equal(parent, sought) != 0) return parent_of(commit, number);
    int const descends = git_graph_descendant_of(repository_.get(), parent, sought);
    if (descends < 0) return failed("walk back from commit " + sha_of(commit).hex, descends);
    if (descends > 0) return parent_of(commit, number);
  }
  return Error{ErrorCode::invalid_argument,
               "git " + path_ + ": commit " + sha_of(ancestor).hex +
                   " is not an ancestor of commit " + sha_of(commit).hex};
}

Result<CommitSha> GitHistory::resolve(std::string const& spec) const {
  git_object* named = nullptr;
  int status = git_revparse_single(&named, repository_.get(), spec.c_str());
  std::unique_ptr<git_object, FreeObject> const object{named};
  git_object* peeled = nullptr;
  if (status == 0) status = git_object_peel(&peeled, named, GIT_OBJECT_COMMIT);
  std::unique_ptr<git_object, FreeObject> const commit{peeled};
  if (status < 0) return failed("resolve \"" + spec + "\"", status);
  return CommitSha{git_oid_tostr_s(git_object_id(peeled))};
}

Result<Commit> GitHistory::commit(CommitSha const& sha) const {
  auto const found = find(sha);
  if (!found) return found.error();
  return describe(**found);
}

Result<std::string> GitHistory::message(CommitSha const& sha) const {
  auto const found = find(sha);
  if (!found) return found.error();
  return text_of(git_commit_message(found->get()));
}

Result<std::vector<Landing>> GitHistory::landed_after(CommitSha const& commit,
                                                      std::string const& remote) const {
  std::vector<std::string> trunks{"refs/remotes/origin/HEAD", "HEAD"};
  if (!remote.empty()) {
    auto const fetched = "refs/remotes/" + remote;
    trunks.insert(trunks.begin(), {fetched + "/HEAD", fetched + "/main"});
  }
  std::string checked;
  for (auto const& trunk : trunks) {
    checked += (checked.empty() ? "" : ", ") + trunk;
    auto const tip = resolve(trunk);
    if (!tip) continue;
    if (auto landed = landed_between(commit, *tip)) return landed;
  }
  return Error{ErrorCode::not_found,
               "git " + path_ + ": commit " + commit.hex +
                   " is not among the newest 20,000 commits of the trunk; checked " + checked};
}

/// Fails when the walk from `tip` does not reach `commit`.
Result<std::vector<Landing>> GitHistory::landed_between(CommitSha const& commit,
                                                        CommitSha const& tip) const {
  constexpr std::size_t most = 20'000;  // more than half a year of PyTorch
  std::vector<Landing> landed;
  auto at = find(tip);
  while (at && sha_of(**at) != commit && landed.size() < most) {
    landed.push_back({sha_of(**at), text_of(git_commit_message(at->get()))});
    at = parent_of(**at);
  }
  if (!at) return at.error();
  if (sha_of(**at) != commit)
    return Error{ErrorCode::not_found,
                 "git " + path_ + ": commit " + commit.hex + " not found below " + tip.hex};
  std::ranges::reverse(landed);
  return landed;
}

Result<CommitSha> GitHistory::parent(CommitSha const& sha) const {
  auto const found = find(sha);
  if (!found) return found.error();
  auto const parent = parent_of(**found);
  if (!parent) return parent.error();
  return sha_of(**parent);
}

Result<CommitChanges> GitHistory::changes_of(CommitSha const& sha) const {
  auto const commit = find(sha);
  if (!commit) return commit.error();
  std::optional<CommitHandle> parent;
  if (git_commit_parentcount(commit->get()) > 0) {
    auto found = parent_of(**commit);
    if (!found) return found.error();
    parent.emplace(std::move(*found));
  }
  git_tree* before = nullptr;
  git_tree* after = nullptr;
  git_diff* differences = nullptr;
  CommitChanges changes;
  int status = git_commit_tree(&after, commit->get());
  std::unique_ptr<git_tree, FreeTree> const new_tree{after};
  if (status == 0 && parent) status = git_commit_tree(&before, parent->get());
  std::unique_ptr<git_tree, FreeTree> const old_tree{before};
  if (status == 0)
    status = git_diff_tree_to_tree(&differences, repository_.get(), before, after, nullptr);
  std::unique_ptr<git_diff, FreeDiff> const diff{differences};
  if (status < 0) return failed("compare commit " + sha.hex + " with its parent", status);
  // git_diff_foreach would read the files, which a partial clone lacks.
  for (std::size_t i = 0; i < git_diff_num_deltas(differences); ++i)
    add_change(changes, *git_diff_get_delta(differences, i));
  std::ranges::sort(changes.paths);
  std::ranges::sort(changes.pins, {}, &CommitChanges::Pin::path);
  return changes;
}

Result<std::vector<Commit>> GitHistory::commits_between(CommitSha const& start,
                                                        CommitSha const& end) const {
  auto const oldest = find(start);
  if (!oldest) return oldest.error();
  auto at = find(end);
  if (!at) return at.error();

  std::vector<Commit> commits;
  while (sha_of(**at) != start) {
    commits.push_back(describe(**at));
    at = step_back(**at, **oldest);
    if (!at) return within("walk from " + end.hex + " to " + start.hex, at.error());
  }
  std::ranges::reverse(commits);
  return commits;
}

/// The newest common ancestor of two commits.
Result<Commit> GitHistory::merge_base(CommitSha const& one, CommitSha const& other) const {
  auto const first = find(one);
  if (!first) return first.error();
  auto const last = find(other);
  if (!last) return last.error();
  git_oid id{};
  int const status = git_merge_base(
      &id, repository_.get(), git_commit_id(first->get()), git_commit_id(last->get()));
  if (status < 0)
    return failed("find what " + one.hex + " and " + other.hex + " have in common", status);
  return commit({git_oid_tostr_s(&id)});
}

Result<Lineage> GitHistory::lineage(CommitSha const& start, CommitSha const& end) const {
  auto base = merge_base(start, end);
  if (!base) return base.error();
  auto missing = commits_between(base->sha, start);
  if (!missing) return missing.error();
  auto added = commits_between(base->sha, end);
  if (!added) return added.error();
  return Lineage{std::move(*base), std::move(*missing), std::move(*added)};
}

Result<int> GitHistory::merged_by(CommitSha const& commit, CommitSha const& parent) const {
  auto const with = find(commit);
  if (!with) return with.error();
  auto const without = find(parent);
  if (!without) return without.error();
  std::size_t ahead = 0;
  std::size_t behind = 0;
  int const status = git_graph_ahead_behind(&ahead,
                                            &behind,
                                            repository_.get(),
                                            git_commit_id(with->get()),
                                            git_commit_id(without->get()));
  if (status < 0) return failed("count what commit " + commit.hex + " merged", status);
  return static_cast<int>(ahead) - 1;
}

Result<std::optional<MergedLine>> GitHistory::merged_line(CommitSha const& merge,
                                                          CommitSha const& ancestor) const {
  auto const commit = find(merge);
  if (!commit) return commit.error();
  if (git_commit_parentcount(commit->get()) != 2) return std::nullopt;
  auto const from = find(ancestor);
  if (!from) return from.error();
  auto const parent = step_back(**commit, **from);
  if (!parent) return parent.error();
  auto const before = sha_of(**parent);
  CommitSha tip{git_oid_tostr_s(git_commit_parent_id(commit->get(), 0))};
  if (tip == before) tip.hex = git_oid_tostr_s(git_commit_parent_id(commit->get(), 1));
  auto const base = merge_base(before, tip);
  if (!base) return base.error();
  return MergedLine{base->sha, tip};
}

Result<CommitSha> GitHistory::tip_of(std::string const& branch, std::string const& remote) const {
  if (!remote.empty())
    if (auto fetched = resolve("refs/remotes/" + remote + '/' + branch)) return fetched;
  auto tip = resolve(branch);
  if (tip || tip.error().code != ErrorCode::not_found) return tip;
  auto cloned = resolve("origin/" + branch);
  return cloned ? cloned : tip;
}

Result<std::vector<NightlyRelease>> GitHistory::nightly_releases(std::string const& branch,
                                                                 int limit,
                                                                 std::string const& remote) const {
  auto const tip = tip_of(branch, remote);
  if (!tip) return tip.error();
  auto at = find(*tip);

  std::vector<NightlyRelease> releases;
  while (at && std::ssize(releases) < limit) {
    auto& commit = **at;
    if (auto release =
            parse_nightly_release(text_of(git_commit_summary(&commit)), sha_of(commit))) {
      releases.push_back(std::move(*release));
    }
    if (git_commit_parentcount(&commit) == 0) return releases;
    at = parent_of(commit);
  }
  bool const is_boundary = !at && at.error().code == ErrorCode::not_found;
  if (!at && !is_boundary) return at.error();
  return releases;
}

/// Fails with `refused` for an extension that is not readable.
Result<> GitHistory::check_extensions() const {
  git_config* config = nullptr;
  int status = git_repository_config_snapshot(&config, repository_.get());
  std::unique_ptr<git_config, FreeConfig> const settings{config};
  git_config_iterator* iterator = nullptr;
  if (status == 0) status = git_config_iterator_new(&iterator, config);
  std::unique_ptr<git_config_iterator, FreeConfigIterator> const entries{iterator};
  git_config_entry* setting = nullptr;
  if (status == 0) status = git_config_next(&setting, iterator);
  for (; status == 0; status = git_config_next(&setting, iterator))
    if (!is_readable(*setting))
      return Error{ErrorCode::refused,
                   "git " + path_ + ": found " + setting->name + " = " + text_of(setting->value) +
                       ", allowed extensions: " + list_of_readable_extensions()};
  if (status != GIT_ITEROVER) return failed("open", status);
  return {};
}

/// Makes new objects go to memory instead of the repository.
int GitHistory::write_to_memory() {
  constexpr int before_all_others = 1000;
  git_odb* odb = nullptr;
  int status = git_repository_odb(&odb, repository_.get());
  std::unique_ptr<git_odb, FreeOdb> const objects{odb};
  git_odb_backend* backend = nullptr;
  if (status == 0) status = git_mempack_new(&backend);
  if (status == 0) status = git_odb_add_backend(odb, backend, before_all_others);
  return status;
}

int GitHistory::read_objects_of(GitHistory const& lender) {
  git_buf directory{};
  int status =
      git_repository_item_path(&directory, lender.repository_.get(), GIT_REPOSITORY_ITEM_OBJECTS);
  git_odb* odb = nullptr;
  if (status == 0) status = git_repository_odb(&odb, repository_.get());
  std::unique_ptr<git_odb, FreeOdb> const objects{odb};
  if (status == 0) status = git_odb_add_disk_alternate(odb, directory.ptr);
  git_buf_dispose(&directory);
  return status;
}

Result<std::optional<CommitSha>> GitHistory::revert(CommitSha const& culprit,
                                                    CommitSha const& onto) const {
  auto const taken_back = find(culprit);
  if (!taken_back) return taken_back.error();
  auto const base = find(onto);
  if (!base) return base.error();
  auto const doing = "revert commit " + culprit.hex + " on " + onto.hex;

  unsigned const mainline = git_commit_parentcount(taken_back->get()) > 1 ? 1 : 0;
  git_index* merged = nullptr;
  int status = git_revert_commit(
      &merged, repository_.get(), taken_back->get(), base->get(), mainline, nullptr);
  std::unique_ptr<git_index, FreeIndex> const index{merged};
  if (status < 0) return failed(doing, status);
  if (git_index_has_conflicts(merged) != 0) return std::nullopt;
  git_oid tree_id;
  status = git_index_write_tree_to(&tree_id, merged, repository_.get());
  if (status == 0 && git_oid_equal(&tree_id, git_commit_tree_id(base->get())) != 0)
    return std::nullopt;
  git_tree* tree = nullptr;
  if (status == 0) status = git_tree_lookup(&tree, repository_.get(), &tree_id);
  std::unique_ptr<git_tree, FreeTree> const owned{tree};
  git_oid id;
  auto const message = "Revert " + culprit.hex;
  git_commit const* parent = base->get();
  auto const* who =
      git_commit_committer(parent);  // with its time: the commit must not depend on today's date
  if (status == 0)
    status = git_commit_create(
        &id, repository_.get(), nullptr, who, who, nullptr, message.c_str(), tree, 1, &parent);
  if (status < 0) return failed(doing, status);
  return CommitSha{git_oid_tostr_s(&id)};
}

}  // namespace torchwatch::bisect
