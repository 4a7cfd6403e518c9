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

/// The prefix of all directories of companions.
inline constexpr auto companion_prefix = "companion-";

/// Returns its directory below `state_dir/builds`: "companion-nvidia-cudnn-cu13-9_15_1_9". Pure.
std::string folder_of(Companion const& companion);

/// Returns the companions that the build in `state_dir/builds/NAME` lists; none without a list.
std::vector<Companion> companions_listed_in(std::filesystem::path const& directory);

/// Fetches the companions of CUDA wheels. A CUDA wheel gets CUDA from other wheels of its index.
/// Those that LibTorch loads are fetched once, and kept next to the builds, one directory each. A
/// build lists them in `companions`. It has hard links to their files in `nvidia`, next to its
/// `torch`, where its libraries look for them. A file is deleted with its last link.
/// Single-threaded.
class Companions {
 public:
  /// All must outlive it. `budget` is called before and after each companion that is fetched.
  Companions(boost::asio::any_io_executor executor,
             config::Options const& options,
             Fetcher& fetcher,
             DiskBudget& budget)
      : options_{options},
        fetcher_{fetcher},
        budget_{budget},
        gate_{std::move(executor), 1} {}

  /// Gives the unpacked wheel in `directory` its companions. Can be killed at any time and
  /// repeated. Fails as fetching does. corrupt: a wheel's METADATA cannot be parsed. unavailable:
  /// the index has no suitable companion, or has it on a host that is not allowed.
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
