#include "daemon/builds/workshop.h"

#include <cstdlib>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include "config/private_paths.h"
#include "runner/process/environment.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// The variables that compilers, their caches and our recipes use. source.environment names others.
std::vector<std::string> const compiling{"CC",
                                         "CXX",
                                         "CPPFLAGS",
                                         "CFLAGS",
                                         "CXXFLAGS",
                                         "LDFLAGS",
                                         "CPATH",
                                         "LIBRARY_PATH",
                                         "LD_LIBRARY_PATH",
                                         "PKG_CONFIG_PATH",
                                         "XDG_*",
                                         "CMAKE_*",
                                         "CCACHE_*",
                                         "CUDA*",
                                         "TORCH_CUDA_ARCH_LIST",
                                         "GIT_CONFIG_*",
                                         "PYTORCH_RECIPE_*",
                                         "LAB_*",
                                         "TORCHWATCH_*"};

std::optional<fs::path> variable(char const* name) {
  auto const* const value = std::getenv(name);  // no variable is set while there are threads
  if (value == nullptr || *value != '/') return std::nullopt;
  return fs::path{value};
}

/// Returns the cache directories of programs.
std::vector<fs::path> caches() {
  std::vector<fs::path> found;
  if (auto const own = variable("CCACHE_DIR")) found.push_back(*own);
  if (auto const cache = variable("XDG_CACHE_HOME"))
    found.push_back(*cache);
  else if (auto const home = variable("HOME"))
    found.push_back(*home / ".cache");
  return found;
}

Error no_sandbox(Error const& reason) {
  return {ErrorCode::unavailable,
          "this host cannot make sandboxes for builds: " + reason.message +
              "; install bubblewrap and let it make namespaces, or set "
              "source.isolation to \"none\"",
          reason.is_of_host};
}

void add_made(std::vector<std::string>& all, fs::path const& directory) {
  std::error_code ignored;  // who is to write there finds that it cannot
  fs::create_directories(directory, ignored);
  if (fs::is_directory(directory, ignored)) all.push_back(fs::absolute(directory).string());
}

}  // namespace

asio::awaitable<Result<process::Isolation>> Workshop::isolation() {
  if (options_.source.isolation == config::IsolationWish::none)
    isolation_ = process::Isolation::none;
  if (isolation_) co_return *isolation_;
  auto const found = co_await process::find_isolation(executor_);
  if (!found) co_return no_sandbox(found.error());
  spdlog::info("isolation_found of=builds isolation=\"{}\"", process::describe(*found));
  isolation_ = *found;
  co_return *found;
}

asio::awaitable<Result<>> Workshop::try_out() {
  auto const isolation = co_await this->isolation();
  if (!isolation) co_return isolation.error();
  if (*isolation == process::Isolation::none) co_return Result<>{};
  auto const found = co_await process::find_isolation(executor_);
  if (found) co_return Result<>{};
  auto problem = no_sandbox(found.error());
  problem.is_of_host = true;  // it could before
  co_return problem;
}

asio::awaitable<Result<process::Command>> Workshop::confine(process::Command command,
                                                            Access access,
                                                            std::size_t outside) {
  auto const isolation = co_await this->isolation();
  if (!isolation) co_return isolation.error();
  auto const& networks = process::network_variables();
  auto const& also = options_.source.environment;
  command.inherits.insert(command.inherits.end(), compiling.begin(), compiling.end());
  command.inherits.insert(command.inherits.end(), networks.begin(), networks.end());
  command.inherits.insert(command.inherits.end(), also.begin(), also.end());
  command.withholds.push_back(options_.github.token_env);
  if (*isolation == process::Isolation::none) co_return command;
  command.env["TMPDIR"] = "/tmp";
  auto sandbox = sandbox_for(access);
  if (!command.directory.empty()) sandbox.directory = command.directory;
  command.directory.clear();
  auto const first = command.argv.begin() + static_cast<std::ptrdiff_t>(outside);
  std::vector<std::string> inside{first, command.argv.end()};
  command.argv.erase(first, command.argv.end());
  auto const confined = process::sandboxed(*isolation, sandbox, std::move(inside));
  command.argv.insert(command.argv.end(), confined.begin(), confined.end());
  co_return command;
}

process::Sandbox Workshop::sandbox_for(Access const& access) const {
  process::Sandbox sandbox;
  sandbox.readable = {"/"};
  sandbox.hidden = config::private_paths(options_);
  for (auto const& path : access.readable)
    sandbox.readable.push_back(fs::absolute(path).string());
  for (auto const& path : options_.source.readable)
    sandbox.readable.push_back(path);
  for (auto const& path : caches())
    add_made(sandbox.writable, path);
  for (auto const& path : options_.source.writable)
    add_made(sandbox.writable, path);
  for (auto const& path : access.writable)
    add_made(sandbox.writable, path);
  if (!access.temporary.empty()) {
    std::error_code ignored;  // bubblewrap says what is wrong with it
    fs::create_directories(access.temporary, ignored);
    sandbox.temporary = access.temporary.string();
  }
  sandbox.has_network = access.has_network;
  return sandbox;
}

}  // namespace torchwatch::builds
