#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/async/semaphore.h"
#include "daemon/async/tool.h"
#include "daemon/builds/bytecode.h"
#include "daemon/builds/workshop.h"
#include "storage/base/result.h"

namespace torchwatch::builds {

/// Workers for builds that have none, each compiled against its build's own headers, since the ABI
/// of two builds may differ. An interface, because the result depends on a compiler and other
/// people's headers.
class Workers {
 public:
  virtual ~Workers() = default;

  /// Gives the build in `prefix` a worker of the current sources and compiler. Fails with corrupt
  /// and the first error when the worker does not compile. Fails with unavailable when the build is
  /// not the cause.
  virtual boost::asio::awaitable<Result<>> make(std::filesystem::path prefix) = 0;

  /// Does what make() does, if the existing worker was made here. So builds that are measured side
  /// by side have workers of the same sources. A build against which the sources no longer compile
  /// loses its worker: its jobs fail until the sources change.
  virtual boost::asio::awaitable<Result<>> renew(std::filesystem::path prefix) = 0;

  /// Does what Bytecode::compile does.
  virtual boost::asio::awaitable<Result<>> compile_bytecode(std::filesystem::path directory) = 0;
};

/// Compiles workers with deploy/build-worker, one at a time, under `state_dir/workers`. The log is
/// `state_dir/logs/worker-BUILD.log`. `PREFIX/bin/torchwatch-worker.made`, next to the worker,
/// records what it was compiled from. Single-threaded.
class WorkerProgram final : public Workers {
 public:
  /// `program`: deploy/build-worker. `workshop` must outlive it.
  WorkerProgram(boost::asio::any_io_executor executor, std::string program, Workshop& workshop)
      : executor_{executor},
        program_{std::move(program)},
        workshop_{workshop},
        options_{workshop.options()},
        bytecode_{executor, workshop},
        gate_{std::move(executor), 1} {}

  boost::asio::awaitable<Result<>> make(std::filesystem::path prefix) override;
  boost::asio::awaitable<Result<>> renew(std::filesystem::path prefix) override;

  boost::asio::awaitable<Result<>> compile_bytecode(std::filesystem::path directory) override {
    return bytecode_.compile(std::move(directory));
  }

  /// Returns the compiler tools of this host, in one line. Fails with unavailable and names the
  /// missing tool.
  boost::asio::awaitable<Result<std::string>> tools();

 private:
  bool is_unpacked_here(std::filesystem::path const& prefix) const;
  boost::asio::awaitable<Result<std::string>> dependencies();
  boost::asio::awaitable<Result<std::string>> ask(std::string question);
  boost::asio::awaitable<Result<>> compile(std::filesystem::path prefix);
  Result<> retire_worker(std::filesystem::path const& prefix, Error const& reason) const;
  process::Command command() const;

  boost::asio::any_io_executor executor_;
  std::string program_;
  Workshop& workshop_;
  config::Options const& options_;
  Bytecode bytecode_;
  std::string newest_;  // what the last worker was to be made from
  async::Semaphore gate_;
};

}  // namespace torchwatch::builds
