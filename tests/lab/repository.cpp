#include "tests/lab/repository.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include <git2.h>

namespace torchwatch::lab {

namespace {

namespace fs = std::filesystem;

template <auto release>
struct Release {
  void operator()(auto* object) const { release(object); }
};

template <class T, auto release>
using Handle = std::unique_ptr<T, Release<release>>;
using TreeHandle = Handle<git_tree, git_tree_free>;
using IndexHandle = Handle<git_index, git_index_free>;
using BuilderHandle = Handle<git_treebuilder, git_treebuilder_free>;
using CommitHandle = Handle<git_commit, git_commit_free>;
using SignatureHandle = Handle<git_signature, git_signature_free>;

/// A failure of libgit2. `guarded` turns it into an Error.
struct GitError {
  std::string what;
};

void check(int status) {
  if (status >= 0) return;
  auto const* const error = git_error_last();
  throw GitError{error != nullptr ? error->message : "unknown error"};
}

/// Calls a libgit2 function that stores a new object in its first parameter. Returns the object.
template <class H, class... Arguments>
H take(auto function, Arguments... arguments) {
  typename H::pointer object = nullptr;
  check(function(&object, arguments...));
  return H{object};
}

/// Runs `work`. Turns a failure of libgit2 into an Error.
template <class Work>
auto guarded(std::string const& doing, Work work) -> Result<decltype(work())> {
  try {
    return work();
  } catch (GitError const& error) {
    return Error{ErrorCode::internal, doing + ": " + error.what};
  }
}

git_oid parse(std::string const& hex) {
  git_oid id;
  check(git_oid_fromstr(&id, hex.c_str()));
  return id;
}

std::string hex_of(git_oid const& id) {
  char text[GIT_OID_HEXSZ + 1];
  return git_oid_tostr(text, sizeof text, &id);
}

TreeHandle find(git_repository* repository, Tree const& tree) {
  auto const id = parse(tree.hex);
  return take<TreeHandle>(git_tree_lookup, repository, &id);
}

Tree write_tree(git_repository* repository, git_index* index) {
  git_oid id;
  check(git_index_write_tree_to(&id, index, repository));
  return {hex_of(id)};
}

git_oid write_blob(git_repository* repository, std::string const& text) {
  git_oid id;
  check(git_blob_create_from_buffer(&id, repository, text.data(), text.size()));
  return id;
}

SignatureHandle signature_of(Person const& person, Timestamp when) {
  return take<SignatureHandle>(git_signature_new,
                               person.name.c_str(),
                               person.email.c_str(),
                               static_cast<git_time_t>(when.time_since_epoch().count()),
                               0);
}

}  // namespace

Result<Repository> Repository::create(fs::path const& path) {
  if (fs::exists(path)) {
    return Error{ErrorCode::refused, path.string() + ": exists already, allowed is a new path"};
  }
  git_libgit2_init();
  git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
  options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH;
  options.initial_head = "main";
  git_repository* repository = nullptr;
  if (git_repository_init_ext(&repository, path.c_str(), &options) < 0) {
    Error error{ErrorCode::internal, path.string() + ": " + git_error_last()->message};
    git_libgit2_shutdown();
    return error;
  }
  return Repository{repository};
}

Repository::Repository(Repository&& other) noexcept
    : repository_(std::exchange(other.repository_, nullptr)) {}

Repository::~Repository() {
  if (repository_ == nullptr) return;
  git_repository_free(repository_);
  git_libgit2_shutdown();
}

Result<Tree> Repository::import(fs::path const& folder) {
  return guarded("import " + folder.string(), [&] {
    auto const index = take<IndexHandle>(git_index_new);
    for (auto const& entry : fs::recursive_directory_iterator{folder}) {
      if (!entry.is_regular_file()) continue;
      std::ifstream stream{entry.path(), std::ios::binary};
      std::string const text{std::istreambuf_iterator<char>{stream}, {}};
      auto const name = fs::relative(entry.path(), folder).generic_string();
      git_index_entry item{};
      item.path = name.c_str();
      item.mode = GIT_FILEMODE_BLOB;
      item.id = write_blob(repository_, text);
      check(git_index_add(index.get(), &item));
    }
    return write_tree(repository_, index.get());
  });
}

Result<Tree> Repository::apply(Tree const& tree, std::string const& diff) {
  return guarded("apply a change", [&] {
    using DiffHandle = Handle<git_diff, git_diff_free>;
    auto const parsed = take<DiffHandle>(git_diff_from_buffer, diff.data(), diff.size());
    auto const before = find(repository_, tree);
    auto const index =
        take<IndexHandle>(git_apply_to_tree, repository_, before.get(), parsed.get(), nullptr);
    return write_tree(repository_, index.get());
  });
}

Result<Tree> Repository::replay(Tree const& tree, Tree const& from, Tree const& to) {
  return guarded("replay a change", [&] {
    auto const ancestor = find(repository_, from);
    auto const ours = find(repository_, tree);
    auto const theirs = find(repository_, to);
    auto const index = take<IndexHandle>(
        git_merge_trees, repository_, ancestor.get(), ours.get(), theirs.get(), nullptr);
    if (git_index_has_conflicts(index.get()) != 0) {
      throw GitError{"another change edits the same lines"};
    }
    return write_tree(repository_, index.get());
  });
}

Result<Tree> Repository::subtree(Tree const& tree, std::string const& name) {
  return guarded("read " + name, [&] {
    auto const handle = find(repository_, tree);
    auto const* const entry = git_tree_entry_byname(handle.get(), name.c_str());
    if (entry == nullptr) throw GitError{"no such entry"};
    return Tree{hex_of(*git_tree_entry_id(entry))};
  });
}

Result<Tree> Repository::rewrite(Tree const& tree,
                                 std::string const& removed,
                                 std::map<std::string, std::string> const& files) {
  return guarded("rewrite a tree", [&] {
    auto const before = find(repository_, tree);
    auto const builder = take<BuilderHandle>(git_treebuilder_new, repository_, before.get());
    check(git_treebuilder_remove(builder.get(), removed.c_str()));
    for (auto const& [name, text] : files) {
      auto const id = write_blob(repository_, text);
      check(git_treebuilder_insert(nullptr, builder.get(), name.c_str(), &id, GIT_FILEMODE_BLOB));
    }
    git_oid id;
    check(git_treebuilder_write(&id, builder.get()));
    return Tree{hex_of(id)};
  });
}

Result<CommitSha> Repository::commit(Tree const& tree,
                                     CommitSha const* parent,
                                     CommitText const& text) {
  return merge(tree, parent == nullptr ? std::vector<CommitSha>{} : std::vector{*parent}, text);
}

Result<CommitSha> Repository::merge(Tree const& tree,
                                    std::vector<CommitSha> const& parents,
                                    CommitText const& text) {
  return guarded("commit", [&] {
    auto const content = find(repository_, tree);
    auto const author = signature_of(text.author, text.authored);
    auto const committer = signature_of(text.committer, text.committed);
    std::vector<CommitHandle> below;
    std::vector<git_commit const*> pointers;
    for (auto const& parent : parents) {
      auto const id = parse(parent.hex);
      below.push_back(take<CommitHandle>(git_commit_lookup, repository_, &id));
      pointers.push_back(below.back().get());
    }
    git_oid id;
    check(git_commit_create(&id,
                            repository_,
                            nullptr,
                            author.get(),
                            committer.get(),
                            nullptr,
                            text.message.c_str(),
                            content.get(),
                            pointers.size(),
                            pointers.data()));
    return CommitSha{hex_of(id)};
  });
}

Result<> Repository::set_branch(std::string const& name, CommitSha const& target) {
  using ReferenceHandle = Handle<git_reference, git_reference_free>;
  auto const moved = guarded("set branch " + name, [&] {
    auto const id = parse(target.hex);
    auto const full = "refs/heads/" + name;
    return take<ReferenceHandle>(git_reference_create, repository_, full.c_str(), &id, 1, nullptr);
  });
  if (!moved) return moved.error();
  return {};
}

}  // namespace torchwatch::lab
