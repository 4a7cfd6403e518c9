#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/async/semaphore.h"
#include "daemon/builds/disk_budget.h"
#include "daemon/builds/fetcher.h"
#include "fetch/companions.h"
#include "storage/base/result.h"

namespace torchwatch::builds {

/// Another wheel that a build takes libraries from: NVIDIA's CUDA, cuDNN, NCCL.
struct Companion {
  std::string name;     ///< "nvidia-cudnn-cu13"
  std::string version;  ///< "9.15.1.9"
  friend bool operator==(Companion const&, Companion const&) = default;
};

/// What all directories of companions begin with.
inline constexpr auto companion_prefix = "companion-";

/// Its directory below `state_dir/builds`: "companion-nvidia-cudnn-cu13-9_15_1_9". Pure.
std::string folder_of(Companion const& companion);

/// Those of the build in `state_dir/builds/NAME`, as they are listed there; none where no list is.
std::vector<Companion> companions_listed_in(std::filesystem::path const& directory);

/// CUDA wheels leave CUDA to other wheels of their index. Those that LibTorch loads are brought
/// here once and kept beside the builds, a directory each; a build lists them in `companions` and
/// has links to their files in `nvidia`, beside its `torch`, which is where its libraries look for
/// them. The links are hard ones: a file is gone when nobody has it any more. Single-threaded.
class Companions {
 public:
  /// All must outlive it. `budget` is asked before each companion that is fetched, and after it.
  Companions(boost::asio::any_io_executor executor,
             config::Options const& options,
             Fetcher& fetcher,
             DiskBudget& budget)
      : options_{options},
        fetcher_{fetcher},
        budget_{budget},
        gate_{std::move(executor), 1} {}

  /// Gives the unpacked wheel in `directory` its companions; may be killed at any instant and done
  /// again. Fails with corrupt when a wheel's METADATA cannot be understood, with what fetching
  /// fails with, and with unavailable when the index has none that fits, or has it on a host that
  /// is not allowed.
  boost::asio::awaitable<Result<>> bring(std::filesystem::path directory);

 private:
  boost::asio::awaitable<Result<std::vector<Companion>>> bring_all(std::filesystem::path directory);
  boost::asio::awaitable<Result<Companion>> bring_one(fetch::Requirement wanted,
                                                      std::string machine,
                                                      std::filesystem::path directory,
                                                      std::vector<Companion> before);
  boost::asio::awaitable<Result<>> fetch(fetch::CompanionFile file, std::filesystem::path place);
  std::filesystem::path builds() const;

  config::Options const& options_;
  Fetcher& fetcher_;
  DiskBudget& budget_;
  async::Semaphore gate_;  // two builds may want the same one
};

}  // namespace torchwatch::builds
