#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/async/semaphore.h"
#include "daemon/async/tool.h"
#include "daemon/builds/workshop.h"
#include "storage/base/result.h"

namespace torchwatch::builds {

/// Workers for builds that come without one, each compiled against its build's own headers, since
/// no two builds promise the same ABI. An interface, because a compiler and other people's headers
/// decide.
class Workers {
 public:
  virtual ~Workers() = default;

  /// Makes sure that the build in `prefix` has a worker of the sources and the compiler as they are
  /// now. Fails with corrupt and the first error when it does not compile, with unavailable when
  /// that is not the build's fault.
  virtual boost::asio::awaitable<Result<>> make(std::filesystem::path prefix) = 0;

  /// The same, where the worker that is there was made here; others are left alone. So builds that
  /// are measured beside each other have workers of the same sources. A build against which they do
  /// not compile any more is left without a worker: its jobs fail, until the sources are others.
  virtual boost::asio::awaitable<Result<>> renew(std::filesystem::path prefix) = 0;
};

/// Has deploy/build-worker compile them, one at a time, under `state_dir/workers`, with its words
/// in `state_dir/logs/worker-BUILD.log`. What a worker was compiled from stands beside it, in
/// `PREFIX/bin/torchwatch-worker.made`. Single-threaded.
class WorkerProgram final : public Workers {
 public:
  /// `program`: deploy/build-worker. `workshop` must outlive it.
  WorkerProgram(boost::asio::any_io_executor executor, std::string program, Workshop& workshop)
      : executor_{executor},
        program_{std::move(program)},
        workshop_{workshop},
        options_{workshop.options()},
        gate_{std::move(executor), 1} {}

  boost::asio::awaitable<Result<>> make(std::filesystem::path prefix) override;
  boost::asio::awaitable<Result<>> renew(std::filesystem::path prefix) override;

  /// What compiles on this host, in one line. Fails with unavailable, naming what is missing.
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
  std::string newest_;  // what the last worker was made from, or would have been
  async::Semaphore gate_;
};

}  // namespace torchwatch::builds
