#include "daemon/builds/worktree.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

#include <spdlog/spdlog.h>

#include "daemon/async/tool.h"
#include "storage/base/remove_tree.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// The limit of a checkout; a longer one hangs.
constexpr std::chrono::minutes longest{30};

/// Returns the text that a worktree keeps about its place.
std::string recorded_place_of(fs::path const& directory) {
  return fs::absolute(directory).lexically_normal().string();
}

/// The file with the place.
fs::path place_file_in(fs::path const& directory) {
  return directory / "place";
}

}  // namespace

Worktree::Worktree(asio::any_io_executor executor, Workshop& workshop, fs::path directory)
    : executor_{std::move(executor)},
      workshop_{&workshop},
      directory_{std::move(directory)} {}

bool Worktree::was_made_at(fs::path const& directory) {
  std::ifstream file{place_file_in(directory)};
  return std::string{std::istreambuf_iterator<char>{file}, {}} == recorded_place_of(directory);
}

std::string const& Worktree::repository() const {
  return workshop_->options().source.repository;
}

bool Worktree::is_warm() const {
  return fs::exists(directory_ / "warm");
}

void Worktree::warm_up() const {
  std::ofstream{directory_ / "warm"};
}

Result<> Worktree::prepare_for(std::string const& contents) const {
  auto const file = directory_ / "recipe";
  std::ifstream known{file};
  if (known && std::string{std::istreambuf_iterator<char>{known}, {}} == contents) return {};
  std::error_code problem;
  fs::remove(directory_ / "warm", problem);
  remove_tree(kept(), problem);
  if (!problem) fs::create_directories(kept(), problem);
  if (problem)
    return Error{ErrorCode::internal, "empty " + kept().string() + ": " + problem.message()};
  std::ofstream{file} << contents;
  return {};
}

asio::awaitable<Result<>> Worktree::check_out(Origin origin) {
  if (fs::exists(source())) {
    std::error_code ignored;  // sandboxes show it, and earlier versions had none
    fs::create_directories(reverts(), ignored);
    auto const gone = co_await go_to(origin);
    if (gone || gone.error().is_of_host) co_return gone;
    spdlog::warn(
        "worktree_renewed path={} reason=\"{}\"", directory_.string(), gone.error().message);
  }
  auto const cloned = co_await clone();
  if (!cloned) co_return cloned;
  co_return co_await go_to(origin);
}

asio::awaitable<Result<>> Worktree::clone() {
  std::error_code problem;
  remove_tree(directory_, problem);
  for (auto const& directory : {kept(), source()})
    if (!problem) fs::create_directories(directory, problem);
  if (problem)
    co_return Error{ErrorCode::internal, "make " + directory_.string() + ": " + problem.message()};
  std::ofstream{place_file_in(directory_)} << recorded_place_of(directory_);
  std::ofstream{lock()}.close();
  if (auto const made = open_reverts(); !made) co_return made.error();
  std::vector<std::string> arguments{"clone",
                                     "--quiet",
                                     "--shared",
                                     "--reference",
                                     reverts().string(),
                                     "--no-checkout",
                                     repository(),
                                     source().string()};
  co_return co_await git(std::move(arguments));
}

Result<bisect::GitHistory> Worktree::open_reverts() const {
  return bisect::GitHistory::borrow(reverts().string(), repository());
}

asio::awaitable<Result<>> Worktree::go_to(Origin const& origin) {
  if (origin.revert) {
    auto const history = open_reverts();
    if (!history) co_return history.error();
    auto const made = history->revert(origin.revert->culprit, origin.revert->onto);
    if (!made) co_return made.error();
  }
  std::error_code ignored;  // the process that locked it was killed
  if (auto const own = source() / ".git"; !fs::is_symlink(own, ignored))
    fs::remove(own / "index.lock", ignored);
  std::vector<std::string> arguments{
      "-C", source().string(), "checkout", "--quiet", "--force", "--detach", origin.commit.hex};
  auto const checked_out = co_await git(std::move(arguments));
  if (!checked_out) co_return checked_out;
  co_return co_await verify(origin.commit);
}

/// Compares the files with the commit: git may succeed although it could not write some. Line ends
/// that .gitattributes converts do not count as a difference. Submodules are up to the recipe.
asio::awaitable<Result<>> Worktree::verify(CommitSha commit) {
  std::vector<std::string> arguments{"-C",
                                     source().string(),
                                     "diff",
                                     "--quiet",
                                     "--no-ext-diff",
                                     "--no-textconv",
                                     "--ignore-cr-at-eol",
                                     "--ignore-submodules=all",
                                     commit.hex,
                                     "--"};
  auto const same = co_await git(std::move(arguments));
  if (same || same.error().is_of_host) co_return same;
  co_return within("the checkout differs from commit " + commit.hex, same.error());
}

asio::awaitable<Result<>> Worktree::git(std::vector<std::string> arguments) {
  process::Command command;
  command.argv = {"flock", "--no-fork", lock().string(), "git"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  // A killed clone leaves a directory that is not a repository, or not one of ours.
  command.env = {{"GIT_TERMINAL_PROMPT", "0"}, {"GIT_CEILING_DIRECTORIES", directory_.string()}};
  Workshop::Access access;
  access.readable = {repository(), reverts()};
  access.writable = {source()};
  access.has_network = false;
  constexpr std::size_t locking = 3;
  auto confined = co_await workshop_->confine(std::move(command), std::move(access), locking);
  if (!confined) co_return confined.error();
  auto const run = co_await async::run_tool(executor_, std::move(*confined), longest);
  if (!run) co_return run.error();
  if (run->is_good()) co_return Result<>{};
  // A failure to make the sandbox looks like a failed git.
  auto const tried = co_await workshop_->try_out();
  if (!tried) co_return tried.error();
  co_return Error{ErrorCode::unavailable,
                  "git in " + directory_.string() + ": " + async::why_it_failed(*run)};
}

}  // namespace torchwatch::builds
