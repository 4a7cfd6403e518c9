#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include "daemon/service/open_store.h"
#include "daemon/setup/checks.h"
#include "storage/store.h"

namespace torchwatch::setup {
namespace fs = std::filesystem;

namespace {

constexpr double gibibyte = 1 << 30U;

/// Returns the least free space: enough for one build where builds are kept, otherwise for the
/// database.
std::uintmax_t least_bytes(config::Options const& options) {
  constexpr std::uintmax_t mebibyte = 1U << 20U;
  bool const keeps_builds = is_published(options.feed) || options.source.has_builds_of_commits();
  return (keeps_builds ? 2048 : 64) * mebibyte;
}

/// True when a directory can be made there. Permissions do not show whether a file system is
/// read-only.
bool can_be_written(fs::path const& directory) {
  auto name = (directory / "torchwatch-check-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return false;
  return ::rmdir(name.c_str()) == 0;
}

Error bad_state(std::string const& directory, std::string const& why) {
  return {ErrorCode::unavailable, "state_dir " + directory + ": " + why};
}

/// Returns which service uses the directory. Only a service that replies at our address is known to
/// be ours.
Result<std::string> holder_of(config::Options const& options) {
  if (!storage::has_writer(service::store_file(options))) return std::string{};
  if (auto const service = running_service(options.http); !service.empty())
    return ", in use by the " + service;
  return bad_state(options.state_dir,
                   "in use by another torchwatch, which does not answer at http.address");
}

/// Returns the path, or the nearest existing directory above it.
fs::path nearest_that_is_there(std::string const& path) {
  auto at = fs::absolute(path).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();  // of "state/"
  std::error_code ignored;
  while (!fs::exists(at, ignored) && at != at.parent_path())
    at = at.parent_path();
  return at;
}

Result<std::string> state_found(config::Options const& options) {
  auto const& state = options.state_dir;
  auto const place = nearest_that_is_there(state);
  std::error_code problem;
  if (!fs::is_directory(place, problem))
    return bad_state(state, place.string() + " is not a directory");
  bool const is_there = fs::equivalent(place, state, problem);
  if (!can_be_written(place)) {
    return bad_state(state, is_there ? "cannot be written" : "cannot be made in " + place.string());
  }
  auto const holder = holder_of(options);
  if (!holder) return holder.error();
  auto const available = fs::space(place, problem).available;
  if (problem) return bad_state(state, problem.message());
  auto const free = fmt::format("{:.1f} GiB free", static_cast<double>(available) / gibibyte);
  if (available < least_bytes(options)) return bad_state(state, free + ", which is too little");
  return state + (is_there ? ": " : ": can be made, ") + free + *holder;
}

}  // namespace

PendingCheck check_state(CheckContext const& context) {
  co_return state_found(context.options);
}

}  // namespace torchwatch::setup
