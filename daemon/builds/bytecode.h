#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/builds/workshop.h"
#include "runner/process/child_process.h"
#include "storage/base/result.h"

namespace torchwatch::builds {

/// Compiles the Python files of unpacked wheels to bytecode, so that no measured process has to.
/// `builds.python` does it, else python3 from PATH, in a sandbox that can only read the wheel: its
/// files are links that belong to other builds, too. Single-threaded.
class Bytecode {
 public:
  /// `workshop` must outlive it.
  Bytecode(boost::asio::any_io_executor executor, Workshop& workshop)
      : executor_{std::move(executor)},
        workshop_{workshop},
        options_{workshop.options()} {}

  /// Compiles the files of the wheel in `directory` and of its companions, unless that was done.
  /// An interpreter that fails, or of another Python than the wheel's, is only logged: each process
  /// then compiles what it imports.
  /// Fails with unavailable when this host has no sandboxes, or the disk does.
  boost::asio::awaitable<Result<>> compile(std::filesystem::path directory);

 private:
  std::string interpreter() const;
  boost::asio::awaitable<Result<std::string>> python_version();
  boost::asio::awaitable<Result<std::string>> run_python(process::Command command,
                                                         Workshop::Access access);
  boost::asio::awaitable<Result<>> compile_into(std::filesystem::path output,
                                                std::filesystem::path directory);

  boost::asio::any_io_executor executor_;
  Workshop& workshop_;
  config::Options const& options_;
};

}  // namespace torchwatch::builds
