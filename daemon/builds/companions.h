#pragma once

#include <filesystem>
#include <map>
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

/// Another wheel that a build takes files from: libraries (NVIDIA's CUDA, cuDNN, NCCL), or packages
/// that Python imports (triton, sympy).
struct Companion {
  std::string name;     ///< "nvidia-cudnn-cu13"
  std::string version;  ///< "9.15.1.9"
  /// fetch::variant_of() its tags, "cp312": one version has a file for each Python. Empty for most.
  std::string variant{};
  friend bool operator==(Companion const&, Companion const&) = default;
};

/// The prefix of all directories of companions.
inline constexpr auto companion_prefix = "companion-";

/// Returns its directory below `state_dir/builds`: "companion-nvidia-cudnn-cu13-9_15_1_9",
/// "companion-triton-3_6_0-cp312". Pure.
std::string folder_of(Companion const& companion);

/// Returns the companions that the build in `state_dir/builds/NAME` lists; none without a list.
std::vector<Companion> companions_listed_in(std::filesystem::path const& directory);

/// A requirement, and the package that has it.
struct CompanionNeed {
  fetch::Requirement requirement;
  std::string by;  ///< "torch 2.11.0.dev20260120+cu130"
};

/// The companions of one build while they are chosen.
struct CompanionChoice {
  std::filesystem::path directory;  ///< directory of the build
  fetch::WheelMetadata torch;
  fetch::CompanionScope scope = fetch::CompanionScope::libraries;
  fetch::WheelTarget target;
  std::vector<Companion> companions;           ///< in the order in which they were chosen
  std::map<std::string, CompanionNeed> needs;  ///< for which they were chosen, by package
};

/// Fetches the companions of wheels from the index of the wheel. Each is fetched once, and kept
/// next to the builds, one directory each. A build lists them in `companions`, and has hard links
/// to their files. A file is deleted with its last link. Single-threaded.
///
/// A CUDA wheel gets CUDA from other wheels: those from which LibTorch loads libraries. Their files
/// in `nvidia` are linked next to its `torch`, where its libraries look for them.
///
/// If a suite needs Python builds (config::needs_python), a wheel gets all packages that it
/// requires without an extra, with all their files, so that its directory is a site-packages. It
/// also gets torchvision and torchaudio of its date, if there are any. Their other requirements
/// (numpy, pillow) are the operator's, as setuptools is.
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

  /// Gives the unpacked wheel in `directory` its companions. Prefers those that it lists, then
  /// those that are kept for other builds. Can be killed at any time and repeated. Fails as
  /// fetching does. corrupt: a wheel's METADATA cannot be parsed. unavailable: the index has no
  /// suitable companion, has two, or has it on a host that is not allowed; or two packages require
  /// different versions of a third.
  boost::asio::awaitable<Result<>> bring(std::filesystem::path directory);

 private:
  Result<CompanionChoice> begin_choice(std::filesystem::path const& directory) const;
  boost::asio::awaitable<Result<>> choose(CompanionChoice& choice);
  boost::asio::awaitable<Result<Companion>> bring_required(CompanionChoice& choice,
                                                           CompanionNeed const& need);
  boost::asio::awaitable<Result<>> bring_optional(CompanionChoice& choice, std::string package);
  boost::asio::awaitable<Result<Companion>> bring_one(CompanionChoice const& choice,
                                                      fetch::CompanionWish wish);
  boost::asio::awaitable<Result<Companion>> find_and_fetch(CompanionChoice const& choice,
                                                           fetch::CompanionWish wish);
  boost::asio::awaitable<Result<fetch::CompanionFile>> find(fetch::CompanionWish const& wish);
  boost::asio::awaitable<Result<>> fetch(fetch::CompanionFile file, std::filesystem::path place);
  std::filesystem::path builds() const;

  config::Options const& options_;
  Fetcher& fetcher_;
  DiskBudget& budget_;
  async::Semaphore gate_;  // two builds may want the same one
};

}  // namespace torchwatch::builds
