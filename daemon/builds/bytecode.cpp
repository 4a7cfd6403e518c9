#include "daemon/builds/bytecode.h"

#include <chrono>
#include <system_error>
#include <vector>

#include <boost/algorithm/string/trim.hpp>
#include <spdlog/spdlog.h>

#include "daemon/async/flush_disk.h"
#include "daemon/async/tool.h"
#include "fetch/wheel_metadata.h"
#include "storage/base/printable.h"
#include "storage/base/small_file.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// The file in an unpacked wheel that names the Python for which it has bytecode.
constexpr auto note_name = ".torchwatch-bytecode";

bool has_bytecode(fs::path const& directory, std::string const& python) {
  auto const note = read_small_file(directory / note_name);
  return note && *note == python + '\n';
}

/// Returns the place that Python gives the bytecode of a source file next to it. `file`: its place
/// below a prefix of its own, "torch/nn/functional.cpython-312.pyc".
fs::path place_next_to_source(fs::path const& file) {
  return file.parent_path() / "__pycache__" / file.filename();
}

/// Moves the bytecode in `output` into `directory`. The interpreter wrote `output`, so only plain
/// files count.
std::error_code move_bytecode(fs::path const& output, fs::path const& directory) {
  std::error_code problem;
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator{output, problem}; !problem && at != fs::end(at);
       at.increment(problem))
    if (!at->is_symlink() && at->is_regular_file()) files.push_back(at->path());
  for (auto const& file : files) {
    auto const place = directory / place_next_to_source(file.lexically_relative(output));
    if (!problem) fs::create_directories(place.parent_path(), problem);
    if (!problem) fs::rename(file, place, problem);
  }
  return problem;
}

}  // namespace

std::string Bytecode::interpreter() const {
  auto const& configured = options_.builds.python;
  return configured.empty() ? "python3" : configured;
}

asio::awaitable<Result<>> Bytecode::compile(fs::path directory) {
  auto const torch = fetch::wheel_metadata_of(directory, "torch");
  if (!torch) co_return torch.error();
  if (has_bytecode(directory, torch->python)) co_return Result<>{};
  auto const python = co_await python_version();
  if (!python) co_return python.error();
  if (python->empty()) co_return Result<>{};
  if (*python != torch->python) {
    spdlog::warn(
        "bytecode_skipped reason=\"{} is Python {}, the wheel is for Python {}; set builds.python "
        "or feed.python\"",
        interpreter(),
        printable(*python, 100),
        torch->python);
    co_return Result<>{};
  }
  auto const output = fs::absolute(options_.state_dir) / "bytecode" / directory.filename();
  auto const compiled = co_await compile_into(output, directory);
  if (!compiled) co_return compiled.error();
  auto const flushed = co_await async::flush_disk_of(executor_, directory);
  if (!flushed) co_return flushed.error();
  co_return write_small_file(directory / note_name, torch->python + '\n');
}

/// Returns "3.12", or empty with a warning when the interpreter fails.
asio::awaitable<Result<std::string>> Bytecode::python_version() {
  process::Command command;
  command.argv = {interpreter(), "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"};
  Workshop::Access access;
  access.has_network = false;
  auto version = co_await run_python(std::move(command), std::move(access));
  if (version) boost::algorithm::trim(*version);
  co_return version;
}

/// Runs the interpreter. Returns its output, and logs why it failed.
asio::awaitable<Result<std::string>> Bytecode::run_python(process::Command command,
                                                          Workshop::Access access) {
  auto confined = co_await workshop_.confine(std::move(command), std::move(access));
  if (!confined) co_return confined.error();
  auto const run =
      co_await async::run_tool(executor_, std::move(*confined), options_.source.timeout);
  if (!run && run.error().is_of_host) co_return run.error();
  bool const is_good = run && run->is_good();
  if (!is_good)
    spdlog::warn("bytecode_incomplete python={} reason=\"{}\"",
                 interpreter(),
                 printable(run ? async::why_it_failed(*run) : run.error().message));
  co_return run ? run->output : std::string{};
}

/// A file that does not compile for this Python is no error: some packages have files for others.
asio::awaitable<Result<>> Bytecode::compile_into(fs::path output, fs::path directory) {
  auto const started = std::chrono::steady_clock::now();
  std::error_code problem;
  fs::remove_all(output, problem);
  process::Command command;
  command.argv = {interpreter(),
                  "-I",
                  "-X",
                  "pycache_prefix=" + output.string(),
                  "-m",
                  "compileall",
                  "-q",
                  directory.string()};
  Workshop::Access access;
  access.readable = {directory};
  access.writable = {output};
  access.has_network = false;
  auto const ran = co_await run_python(std::move(command), std::move(access));
  if (!ran) co_return ran.error();
  // Below its prefix, Python repeats the whole path of a source file.
  problem = move_bytecode(output / directory.relative_path(), directory);
  std::error_code ignored;
  fs::remove_all(output, ignored);
  if (problem && problem != std::errc::no_such_file_or_directory)
    co_return Error{ErrorCode::unavailable,
                    "bytecode of " + directory.string() + ": " + problem.message()};
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - started;
  spdlog::info(
      "bytecode_compiled build={} seconds={:.1f}", directory.filename().string(), seconds.count());
  co_return Result<>{};
}

}  // namespace torchwatch::builds
