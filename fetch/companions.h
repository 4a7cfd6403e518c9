#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fetch/download.h"
#include "fetch/index_page.h"
#include "fetch/requirement.h"
#include "fetch/wheel_metadata.h"

/// Companions: wheels of the same index with the CUDA libraries that a CUDA wheel of PyTorch needs.
namespace torchwatch::fetch {

/// Returns the requirements of `wheel`, with `extras`, from which LibTorch loads libraries on Linux
/// with this `machine` ("x86_64"). These are NVIDIA's packages, and cuda-toolkit, which has no
/// libraries but requires them. Packages for Python only (triton, sympy) are skipped. Fails with
/// corrupt, naming the requirement that cannot be parsed.
Result<std::vector<Requirement>> companions_of(WheelMetadata const& wheel,
                                               std::set<std::string> const& extras,
                                               std::string const& machine);

/// The file of a companion in an index.
struct CompanionFile {
  std::string name;     ///< canonical_name() of the package
  std::string version;  ///< "13.0.48"
  std::string url;
  std::string sha256;  ///< empty if the index has none
};

/// Returns the newest file of `links` that fulfills the requirement, for this machine or any, and
/// for any Python. Skips yanked files. Skips pre-releases unless nothing else fits.
std::optional<CompanionFile> companion_in(std::vector<PageLink> const& links,
                                          Requirement const& wanted,
                                          std::string const& machine);

/// A request for one file on the page of a package.
struct CompanionRequest {
  DownloadRequest page;
  std::filesystem::path file;  ///< temporary file for the page; removed afterwards
  std::string requirement;     ///< "nvidia-cublas==13.0.0.19"
  std::string machine;
};

/// Reads the page and returns the newest file that fits. Errors are those of read_page(), and
/// not_found, naming the page and the requirement, when there is no page or no file fits. Blocks.
Result<CompanionFile> find_companion(CompanionRequest const& request);

}  // namespace torchwatch::fetch
