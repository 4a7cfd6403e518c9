#include "daemon/builds/missing_files.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "daemon/builds/git_program.h"

namespace torchwatch::builds {
namespace asio = boost::asio;

namespace {

/// PyTorch's files are some hundred MiB.
constexpr std::chrono::hours longest_lookup{1};

/// The ID of the tree without files, which git always knows.
constexpr auto empty_tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Returns git's output, or the reason why it failed.
asio::awaitable<Result<std::string>> output_of(asio::any_io_executor executor,
                                               std::string repository,
                                               std::vector<std::string> arguments) {
  auto const run = co_await run_git(
      std::move(executor), std::move(repository), std::move(arguments), longest_lookup);
  if (!run) co_return run.error();
  if (run->is_good()) co_return run->output;
  co_return Error{ErrorCode::unavailable, reason_of_git(*run)};
}

/// True when a remote promised the files that the clone left out. A git that finds no such setting
/// fails, which means false. A git that this host cannot start is an error.
asio::awaitable<Result<bool>> is_partial(asio::any_io_executor executor, std::string repository) {
  std::vector<std::string> question{
      "config", "--get-regexp", R"(^(remote\..*\.promisor|extensions\.partialclone)$)"};
  auto const settings =
      co_await output_of(std::move(executor), std::move(repository), std::move(question));
  if (!settings && settings.error().is_of_host) co_return settings.error();
  co_return settings && !settings->empty();
}

/// True when the list of a commit's objects names a missing one: a line "?HASH".
bool names_missing(std::string const& objects) {
  return objects.starts_with('?') || objects.find("\n?") != std::string::npos;
}

}  // namespace

asio::awaitable<Result<>> bring_missing_files(asio::any_io_executor executor,
                                              config::SourceOptions const& source,
                                              CommitSha commit) {
  auto const partial = co_await is_partial(executor, source.repository);
  if (!partial) co_return partial.error();
  if (!*partial) co_return Result<>{};
  std::vector<std::string> arguments{
      "rev-list", "--objects", "--missing=print", "--no-walk", commit.hex};
  auto const objects = co_await output_of(executor, source.repository, std::move(arguments));
  if (!objects) co_return objects.error();
  if (!names_missing(*objects)) co_return Result<>{};
  if (source.remote.empty())
    co_return Error{ErrorCode::not_found,
                    source.repository + ": a partial clone without the files of commit " +
                        commit.hex + ", and there is no source.remote to fetch them from"};
  // Counting lines makes git fetch all missing files at once.
  arguments = {"diff",
               "--shortstat",
               "--no-renames",
               "--no-ext-diff",
               "--no-textconv",
               empty_tree,
               commit.hex};
  spdlog::info("files_fetched_for commit={} repository={}", short_of(commit), source.repository);
  auto const brought = co_await output_of(executor, source.repository, std::move(arguments));
  if (brought) co_return Result<>{};
  co_return Error{ErrorCode::unavailable,
                  "fetch the files of commit " + commit.hex + " into " + source.repository + ": " +
                      brought.error().message,
                  brought.error().is_of_host};
}

}  // namespace torchwatch::builds
