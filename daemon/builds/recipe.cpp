#include "daemon/builds/recipe.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <unistd.h>

#include "config/needs.h"
#include "daemon/async/tool.h"
#include "daemon/async/watchdog.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// The time limit of `--dependencies`, which needs no work.
constexpr std::chrono::seconds patience{60};

constexpr auto layout_variable = "TORCHWATCH_LAYOUT";

/// The exit status of bubblewrap when it cannot make a sandbox. Recipes that fail temporarily use
/// it, too.
constexpr int failed_sandbox = 1;

constexpr auto python_variable = "TORCHWATCH_PYTHON";

/// Sets the variables of a build that is not the usual one: another layout, or Python packages.
void ask_for(int layout, config::Options const& options, process::Command& command) {
  if (layout > 0) command.env[layout_variable] = std::to_string(layout);
  if (config::needs_python(options)) command.env[python_variable] = "1";
}

/// Returns the number of processors for each of the recipes that run at a time.
int cores_of_one(config::SourceOptions const& source) {
  int const all =
      source.cores > 0 ? source.cores : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, all / source.builds);
}

/// Lets recipes read both, even in directories that are hidden from them.
Workshop::Access access_of(config::SourceOptions const& source) {
  Workshop::Access access;
  for (auto const& path : {fs::path{source.recipe}.parent_path(), fs::path{source.repository}})
    if (!path.empty()) access.readable.push_back(path);
  return access;
}

}  // namespace

int layout_in(std::string_view contents) {
  constexpr std::string_view begin = "\nlayout ";
  auto const at = contents.find(begin);
  if (at == std::string_view::npos) return 0;
  auto const text = contents.substr(at + begin.size());
  int layout = 0;
  auto const read = std::from_chars(text.data(), text.data() + text.size(), layout);
  return read.ec == std::errc{} ? layout : 0;
}

asio::awaitable<Result<std::string>> RecipeProgram::contents(fs::path directory, int layout) const {
  if (source_.recipe.empty()) co_return std::string{};
  process::Command identify;
  identify.argv = {"git", "hash-object", "--no-filters", source_.recipe};
  auto const program = co_await async::run_tool(executor_, std::move(identify), patience);
  if (!program) co_return program.error();
  if (!program->is_good())
    co_return Error{ErrorCode::not_found, "recipe " + source_.recipe + " cannot be read"};
  process::Command ask;
  ask.argv = {source_.recipe, "--dependencies"};
  ask.directory = directory.string();
  ask_for(layout, workshop_.options(), ask);
  auto access = access_of(source_);
  access.writable.push_back(std::move(directory));
  auto confined = co_await workshop_.confine(std::move(ask), std::move(access));
  if (!confined) co_return confined.error();
  auto const answer = co_await async::run_tool(executor_, std::move(*confined), patience);
  if (!answer) co_return answer.error();
  auto const status = process::seen_through_sandbox(answer->status);
  if (status.signal != 0) {
    co_return Error{ErrorCode::unavailable,
                    "recipe " + source_.recipe + " --dependencies: " + process::describe(status)};
  }
  auto const dependencies = answer->is_good() ? answer->output : std::string{};
  co_return "recipe " + program->output + dependencies;
}

asio::awaitable<Result<RecipeRun>> RecipeProgram::build(
    CommitSha commit, Worktree const& tree, fs::path prefix, fs::path log, int layout) const {
  if (::access(source_.recipe.c_str(), X_OK) != 0)
    co_return Error{ErrorCode::not_found, "recipe " + source_.recipe + " cannot be executed"};
  process::Command command;
  command.argv = {"flock",
                  "--no-fork",
                  tree.lock().string(),
                  source_.recipe,
                  tree.source().string(),
                  prefix.string()};
  command.env = {{"TORCHWATCH_COMMIT", commit.hex},
                 {"TORCHWATCH_CORES", std::to_string(cores_of_one(source_))},
                 {"TORCHWATCH_BUILD_DIR", tree.kept().string()}};
  ask_for(layout, workshop_.options(), command);
  command.stdout_file = log.string();
  command.stderr_file = log.string();
  std::error_code ignored;
  fs::remove(log, ignored);
  auto access = access_of(source_);
  access.readable.push_back(tree.reverts());
  access.writable = {tree.source(), tree.kept(), prefix.parent_path()};
  access.temporary = prefix.parent_path() / "tmp";
  // The lock file stays outside. Orphans of a killed recipe hold it, too, so no other recipe builds
  // where they still write.
  constexpr std::size_t locking = 3;
  auto confined = co_await workshop_.confine(std::move(command), std::move(access), locking);
  if (!confined) co_return confined.error();
  auto recipe = process::ChildProcess::start(executor_, std::move(*confined));
  if (!recipe) co_return recipe.error();
  recipe->close_stdin();
  async::Limits const limits{source_.timeout, log.string()};
  async::Watchdog const watchdog{executor_, limits, *recipe};
  RecipeRun run;
  run.status = process::seen_through_sandbox(co_await recipe->wait());
  if (run.status.code == failed_sandbox) {
    auto const tried = co_await workshop_.try_out();
    if (!tried) co_return tried.error();
  }
  run.how = watchdog.complaint().empty() ? process::describe(run.status) : watchdog.complaint();
  co_return run;
}

}  // namespace torchwatch::builds
