#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fetch/download.h"
#include "fetch/index_page.h"
#include "fetch/marker.h"
#include "fetch/requirement.h"
#include "fetch/wheel_metadata.h"
#include "fetch/wheel_name.h"

/// Companions: wheels of the same index that a wheel of PyTorch needs. A CUDA wheel takes its CUDA
/// libraries from them, and Python takes the packages that `import torch` needs.
namespace torchwatch::fetch {

/// The requirements that become companions.
enum class CompanionScope {
  /// Packages from which LibTorch loads libraries: NVIDIA's, and cuda-toolkit, which has no
  /// libraries but requires them.
  libraries,
  /// All packages (triton, sympy), except setuptools, which the operator provides.
  python,
};

/// Returns the requirements of `wheel` that are in `scope` and whose marker holds in `environment`.
/// Fails with corrupt, naming the requirement, when it cannot be parsed. Also when a package for
/// Python has an address instead of versions, because it is then not a file of the index.
Result<std::vector<Requirement>> companions_of(WheelMetadata const& wheel,
                                               MarkerEnvironment const& environment,
                                               CompanionScope scope);

/// The file of a companion in an index.
struct CompanionFile {
  std::string name;     ///< canonical_name() of the package
  std::string version;  ///< "13.0.48"
  std::string url;
  std::string sha256;     ///< empty if the index has none
  std::string variant{};  ///< variant_of() its tags, "cp312"
};

/// The file that is wanted from the page of a package.
struct CompanionWish {
  Requirement requirement;
  WheelTarget target;
  /// End of its version, ".dev20260120+cu130", for packages that are built with a nightly. Empty:
  /// any.
  std::string version_end{};
  std::vector<std::string> unsuited{};  ///< versions that do not fit, for reasons the page lacks
};

/// Returns the newest file of `links` that fits. Skips yanked files, and files for which the page
/// names other Pythons. Skips pre-releases unless nothing else fits, or the version's end is given.
/// Among files of one version, takes the largest build number, then the largest TagRank. Returns
/// nothing when no file fits. With a Python, fails with corrupt, naming both, when two different
/// files are equally good.
Result<std::optional<CompanionFile>> companion_in(std::vector<PageLink> const& links,
                                                  CompanionWish const& wish);

/// Returns why no file fits, for people: "has no triton==3.7.0 for cp312 on x86_64; found 3.6.0".
std::string why_no_companion(std::vector<PageLink> const& links, CompanionWish const& wish);

/// True when a wheel may be used with the Python of `target`: by its tags, and by its
/// Requires-Python, unless it was compiled for exactly this Python. PyTorch's triton for a new
/// Python has had an old Requires-Python.
bool fits(WheelMetadata const& wheel, WheelTarget const& target);

/// A request for one file on the page of a package.
struct CompanionRequest {
  DownloadRequest page;
  std::filesystem::path file;  ///< temporary file for the page; removed afterwards
  std::string requirement;     ///< "nvidia-cublas==13.0.0.19"
  WheelTarget target;
  std::string version_end{};            ///< as in CompanionWish
  std::vector<std::string> unsuited{};  ///< as in CompanionWish
};

/// Reads the page and returns the newest file that fits. Errors are those of read_page() and
/// companion_in(), which name the page. Also not_found, when there is no page or no file fits.
/// Blocks.
Result<CompanionFile> find_companion(CompanionRequest const& request);

}  // namespace torchwatch::fetch
