#include "runner/caches.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <boost/asio/this_coro.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "runner/process/child_process.h"
#include "runner/process/excerpt.h"
#include "runner/process/spawn.h"
#include "storage/base/digest.h"
#include "storage/base/remove_tree.h"

namespace torchwatch::runner {

namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// Removes a directory at the end of a scope, if it is still there.
class RemovedAtEnd {
 public:
  explicit RemovedAtEnd(fs::path path) : path_{std::move(path)} {}

  RemovedAtEnd(RemovedAtEnd const&) = delete;
  RemovedAtEnd& operator=(RemovedAtEnd const&) = delete;

  ~RemovedAtEnd() {
    std::error_code ignored;
    remove_tree(path_, ignored);
  }

 private:
  fs::path path_;
};

/// The lines of /proc/cpuinfo that decide which code compilers generate.
constexpr std::array<std::string_view, 5> facts_of_cpu{
    "model name", "flags", "Features", "CPU implementer", "CPU part"};

/// Returns the facts of the first CPU.
std::string kind_of_cpu() {
  std::string kind;
  std::ifstream lines{"/proc/cpuinfo"};
  for (std::string line; std::getline(lines, line) && !line.empty();)
    if (std::ranges::any_of(facts_of_cpu,
                            [&line](std::string_view fact) { return line.starts_with(fact); }))
      kind += line + '\n';
  return kind;
}

std::string first_line_in(fs::path const& file, std::string_view start) {
  std::ifstream lines{file};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(start)) return line;
  return {};
}

/// Returns the models of the host's GPUs and their driver. On a host with several models, and for
/// parts of a GPU, each of them is a kind of its own.
std::string kind_of_gpus(std::string const& gpu) {
  std::set<std::string> models;
  std::error_code problem;
  for (fs::directory_iterator at{"/proc/driver/nvidia/gpus", problem}, end; !problem && at != end;
       at.increment(problem))
    models.insert(first_line_in(at->path() / "information", "Model:"));
  auto kind = first_line_in("/sys/module/nvidia/version", "") + '\n';
  for (auto const& model : models)
    kind += model + '\n';
  return models.size() > 1 || gpu.starts_with("MIG-") ? kind + gpu : kind;
}

/// Copies the contents of a directory into another one that exists. `cp` keeps links and times, and
/// does not block this thread.
asio::awaitable<Result<>> copy_contents(fs::path from, fs::path to) {
  auto const executor = co_await asio::this_coro::executor;
  process::Command command;
  command.argv = {"cp", "-a", "--", from.string() + "/.", to.string()};
  auto copying = process::ChildProcess::start(executor, std::move(command));
  if (!copying) co_return copying.error();
  auto const status = co_await copying->wait();
  if (status.code == 0 && status.signal == 0) co_return Result<>{};
  auto const words = process::last_lines(copying->last_stderr());
  co_return Error{ErrorCode::internal,
                  "copy compile caches from " + from.string() + ": " +
                      (words.empty() ? process::describe(status) : words)};
}

Error disk_error(std::string const& doing, fs::path const& path, std::error_code problem) {
  return {ErrorCode::internal, doing + ' ' + path.string() + ": " + problem.message()};
}

/// Makes an empty directory next to `filled`, whose name no job uses.
Result<fs::path> make_part_of(fs::path const& filled) {
  std::error_code problem;
  fs::create_directories(filled.parent_path(), problem);
  if (problem) return disk_error("make", filled.parent_path(), problem);
  auto pattern = filled.string() + ".part-XXXXXX";
  if (::mkdtemp(pattern.data()) != nullptr) return fs::path{pattern};
  return disk_error("make", pattern, {errno, std::generic_category()});
}

/// Flushes `part` to the disk and renames it.
Result<> publish(fs::path const& part, fs::path const& filled) {
  process::Descriptor const directory{::open(part.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (directory.get() < 0 || ::syncfs(directory.get()) != 0)
    return disk_error("flush", part, {errno, std::generic_category()});
  if (::rename(part.c_str(), filled.c_str()) == 0) return {};
  if (errno == EEXIST || errno == ENOTEMPTY) return {};  // another runner was faster
  return disk_error("rename", part, {errno, std::generic_category()});
}

/// Returns the bytes of all files below `directory`.
std::int64_t bytes_below(fs::path const& directory) {
  std::int64_t bytes = 0;
  std::error_code problem;
  for (fs::recursive_directory_iterator at{directory, problem}, end; !problem && at != end;
       at.increment(problem)) {
    std::error_code ignored;
    bool const is_file = !at->is_symlink(ignored) && at->is_regular_file(ignored);
    auto const size = is_file ? at->file_size(ignored) : 0;
    if (!ignored) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

}  // namespace

bool keeps_caches(protocol::Job const& job) {
  return !job.caches.variables.empty() && !job.caches.directory.empty();
}

protocol::Job filling(protocol::Job job) {
  constexpr int fewest_leak_iterations = 8;  // allowed by the workers
  job.measure.leak_iterations = fewest_leak_iterations;
  job.measure.runs = 1;
  job.measure.warmup = 1;
  job.measure.profile = false;
  job.takes_turns = false;
  job.caches.is_filling = true;
  return job;
}

fs::path filled_caches_of(protocol::Job const& job, WorkerEnvironment const& surroundings) {
  constexpr std::size_t digits = 16;
  auto same = filling(job);
  same.id.clear();
  same.build.prefix.clear();
  same.limits = {};
  same.caches.directory.clear();
  same.caches.fill.clear();
  Sha256 digest;
  digest.add(protocol::encode(same));
  digest.add(process::describe(surroundings.isolation));
  digest.add(kind_of_cpu());
  digest.add(kind_of_gpus(surroundings.gpu));
  auto const kind = digest.hex().substr(0, digits);
  return fs::path{job.caches.directory} / job.benchmark / (kind + '-' + job.caches.fill);
}

asio::awaitable<Result<process::ScratchDirectory>> private_caches(protocol::Job job,
                                                                  fs::path filled) {
  auto made = process::ScratchDirectory::make();
  if (!made) co_return made.error();
  fs::path const place{made->path()};
  if (!job.caches.is_filling) {
    auto const copied = co_await copy_contents(std::move(filled), place);
    if (!copied) co_return copied.error();
  }
  for (auto const& variable : job.caches.variables) {
    std::error_code problem;
    fs::create_directory(place / variable, problem);
    if (problem) co_return disk_error("make", place / variable, problem);
  }
  co_return std::move(*made);
}

asio::awaitable<Result<>> store_caches(fs::path from, fs::path filled, std::int64_t most_bytes) {
  if (auto const bytes = bytes_below(from); bytes > most_bytes)
    co_return Error{ErrorCode::refused,
                    "the compile caches have " + std::to_string(bytes) + " bytes, allowed are " +
                        std::to_string(most_bytes) + ", as measure.memory_mib sets"};
  auto const part = make_part_of(filled);
  if (!part) co_return part.error();
  RemovedAtEnd const removed{*part};
  auto const copied = co_await copy_contents(std::move(from), *part);
  if (!copied) co_return copied.error();
  co_return publish(*part, filled);
}

void discard_caches(fs::path const& filled) {
  fs::path const grave{filled.string() + ".removed"};
  std::error_code ignored;
  remove_tree(grave, ignored);
  fs::rename(filled, grave, ignored);
  remove_tree(grave, ignored);
}

}  // namespace torchwatch::runner
