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

/// A CUDA wheel of PyTorch has no CUDA in it: other wheels of the same index have, its companions.
namespace torchwatch::fetch {

/// Which packages `wheel` names, with these of its `extras`, that LibTorch loads libraries from on
/// Linux with this `machine` ("x86_64"): NVIDIA's, and cuda-toolkit, which holds nothing and names
/// them in turn. What only Python uses (triton, sympy) is passed over. Fails with corrupt, naming
/// what cannot be understood.
Result<std::vector<Requirement>> companions_of(WheelMetadata const& wheel,
                                               std::set<std::string> const& extras,
                                               std::string const& machine);

/// A wheel that is to be had.
struct CompanionFile {
  std::string name;     ///< of the package, as canonical_name has it
  std::string version;  ///< "13.0.48"
  std::string url;
  std::string sha256;  ///< empty: the index does not say
};

/// The newest file of `links` that fits, for this machine or any, whatever the Python; what is
/// yanked is passed over, and pre-releases are unless nothing else fits.
std::optional<CompanionFile> companion_in(std::vector<PageLink> const& links,
                                          Requirement const& wanted,
                                          std::string const& machine);

/// The page of a package's files, and which of them is wanted.
struct CompanionRequest {
  DownloadRequest page;
  std::filesystem::path file;  ///< where the page lies while it is read; gone afterwards
  std::string requirement;     ///< "nvidia-cublas==13.0.0.19"
  std::string machine;
};

/// Reads the page and picks the file. Errors as read_page's; also not_found, naming the page and
/// what was wanted, when there is no page or nothing on it fits. Blocks.
Result<CompanionFile> find_companion(CompanionRequest const& request);

}  // namespace torchwatch::fetch
