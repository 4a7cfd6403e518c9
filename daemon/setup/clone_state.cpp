#include "daemon/setup/clone_state.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <boost/algorithm/string/join.hpp>

#include "daemon/builds/git_program.h"
#include "storage/domain/project.h"

namespace torchwatch::setup {
namespace asio = boost::asio;

namespace {

/// Settings of a clone by name; one may have several values.
using Settings = std::multimap<std::string, std::string>;

/// Returns `path` quoted as one word of a shell.
std::string shell_word(std::string const& path) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+@:,=";
  if (!path.empty() && path.find_first_not_of(plain) == std::string::npos) return path;
  std::string word = "'";
  for (char const letter : path)
    word += letter == '\'' ? std::string{R"('\'')"} : std::string{letter};
  return word + "'";
}

std::string git_in(std::string const& repository) {
  return "git -C " + shell_word(repository) + ' ';
}

/// Returns the command that makes git trust the repository. Clones of it, in which builds are made,
/// check its git directory.
std::string trusting_command(std::string const& repository) {
  auto const trust = [](std::string const& directory) {
    return "git config --global --add safe.directory " + shell_word(directory);
  };
  std::error_code ignored;
  auto const inner = std::filesystem::path{repository} / ".git";
  if (!std::filesystem::exists(inner, ignored)) return trust(repository);
  return trust(repository) + " && " + trust(inner.string());
}

/// Returns the reason why git does not work in a repository.
Error unusable(async::ToolRun const& run, std::string const& repository) {
  if (run.errors.find("dubious ownership") == std::string::npos)
    return Error{ErrorCode::unavailable, repository + ": " + builds::reason_of_git(run)};
  return Error{ErrorCode::refused,
               repository +
                   ": belongs to another user, so git does nothing in it; run as the "
                   "service's user: " +
                   trusting_command(repository)};
}

/// Reads lines such as "remote.origin.url https://...".
Settings settings_in(std::string const& text) {
  Settings settings;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    auto const space = line.find(' ');
    if (space != std::string::npos) settings.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return settings;
}

/// Returns the remotes that have a variable.
std::vector<std::string> remotes_with(Settings const& settings, std::string const& variable) {
  std::string const before = "remote.";
  auto const after = '.' + variable;
  std::vector<std::string> remotes;
  for (auto const& [name, value] : settings)
    if (name.starts_with(before) && name.ends_with(after))
      remotes.push_back(name.substr(before.size(), name.size() - before.size() - after.size()));
  return remotes;
}

std::string remote_of(Settings const& settings, config::SourceOptions const& source) {
  if (!source.remote.empty()) return source.remote;
  auto const all = remotes_with(settings, "url");
  if (std::ranges::find(all, "origin") != all.end()) return "origin";
  return all.empty() ? std::string{} : all.front();
}

/// Versions of git before 2.24 name the one promisor in an extension.
void note(Settings const& settings, config::SourceOptions const& source, CloneState& state) {
  state.filtered = remotes_with(settings, "partialclonefilter");
  state.is_partial = !state.filtered.empty() || !remotes_with(settings, "promisor").empty() ||
                     settings.contains("extensions.partialclone");
  state.remote = remote_of(settings, source);
  auto const [first, last] = settings.equal_range("remote." + state.remote + ".fetch");
  for (auto at = first; at != last; ++at)
    state.refspecs.push_back(at->second);
}

/// True when a refspec has all branches.
bool is_of_all(std::string const& refspec) {
  auto const from = refspec.substr(refspec.starts_with('+') ? 1 : 0);
  return from.starts_with("refs/heads/*:") || from.starts_with("refs/*:");
}

/// True when fetches get only one branch, as after `git clone --single-branch`. Nightlies are on
/// one branch, and their commits on another.
bool is_narrow(CloneState const& state) {
  return state.refspecs.size() == 1 && !is_of_all(state.refspecs.front());
}

/// Returns the refspec of all branches for this kind of clone.
std::string refspec_for(CloneState const& state) {
  auto const remote = state.remote.empty() ? std::string{"origin"} : state.remote;
  return "'+refs/heads/*:refs/" + (state.is_bare ? std::string{"heads"} : "remotes/" + remote) +
         "/*'";
}

std::string upstream() {
  return std::string{project_url} + ".git";
}

}  // namespace

asio::awaitable<Result<CloneState>> read_clone_state(asio::any_io_executor executor,
                                                     config::SourceOptions const& source) {
  std::vector<std::string> question{"rev-parse", "--is-bare-repository", "--is-shallow-repository"};
  auto const kind = co_await builds::run_git(executor, source.repository, std::move(question));
  if (!kind) co_return kind.error();
  if (!kind->is_good()) co_return unusable(*kind, source.repository);
  CloneState state;
  state.is_bare = kind->output.starts_with("true");
  state.is_shallow = kind->output.ends_with("\ntrue\n");
  question = {"config", "--get-regexp", R"(^(remote\..+\.|extensions\.partialclone$))"};
  auto const settings = co_await builds::run_git(executor, source.repository, std::move(question));
  if (!settings) co_return settings.error();
  note(settings_in(settings->output), source, state);  // none where there is no remote
  co_return state;
}

std::vector<std::string> faults_of(CloneState const& state, config::SourceOptions const& source) {
  std::vector<std::string> faults;
  if (state.is_shallow) faults.emplace_back("is shallow: it lacks the commits before its boundary");
  if (!state.filtered.empty() && !source.recipe.empty())
    faults.push_back("is a partial clone: it lacks files of the commits that are built, and " +
                     boost::join(state.filtered, ", ") + " has to answer for each of them");
  if (!source.remote.empty() && is_narrow(state))
    faults.push_back("fetches one branch alone, by " + state.refspecs.front());
  return faults;
}

std::string completing_command(CloneState const& state, std::string const& repository) {
  auto const git = git_in(repository);
  std::string command;
  for (auto const& remote : state.filtered)
    command += git + "config --unset-all remote." + remote + ".partialclonefilter && ";
  bool const is_widened = is_narrow(state);
  if (is_widened)
    command += git + "config --replace-all remote." + state.remote + ".fetch " +
               refspec_for(state) + " && ";
  command += git + "fetch";
  if (state.is_shallow) command += " --unshallow";
  if (state.is_partial) command += " --refetch";
  command += ' ' + (state.remote.empty() ? upstream() : state.remote);
  if (state.refspecs.empty()) command += ' ' + refspec_for(state);
  return command;
}

std::string upstream_command(CloneState const& state, config::SourceOptions const& source) {
  auto const git = git_in(source.repository);
  if (source.remote.empty()) return git + "fetch " + upstream() + ' ' + refspec_for(state);
  return git + "remote set-url " + source.remote + ' ' + upstream();
}

std::string fresh_clone_command(config::SourceOptions const& source) {
  auto repository = source.repository;
  if (repository.ends_with('/')) repository.pop_back();
  bool const is_renamed = !source.remote.empty() && source.remote != "origin";
  auto const origin = is_renamed ? "--origin " + source.remote + ' ' : std::string{};
  return "mv " + shell_word(repository) + ' ' + shell_word(repository + ".old") +
         " && git clone --bare " + origin + upstream() + ' ' + shell_word(repository);
}

}  // namespace torchwatch::setup
