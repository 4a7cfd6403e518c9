#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "fetch/version.h"

/// The names of wheels, and the interpreters and machines that they fit (PEP 427, PEP 425).
namespace torchwatch::fetch {

/// The compatibility tag of a wheel: "cp312-cp312-manylinux_2_28_x86_64".
struct WheelTag {
  std::string python;    ///< "cp312", "py3"
  std::string abi;       ///< "cp312", "abi3", "none"
  std::string platform;  ///< "manylinux_2_28_x86_64", "any"
};

/// Returns the tags of a compressed tag: two for "py2.py3-none-any". Empty for other texts.
std::vector<WheelTag> tags_in(std::string_view text);

/// The parts of NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl.
struct WheelName {
  std::string name;  ///< canonical_name() of the package
  Version version;
  std::string version_text;             ///< "3.7.0+git88b227e2"
  std::pair<int, std::string> build{};  ///< build number and its suffix; of two, the larger counts
  std::vector<WheelTag> tags;
};

/// Returns nothing when `file_name` is not the name of a wheel, or its version is not a version.
std::optional<WheelName> parse_wheel_name(std::string_view file_name);

/// The interpreter (CPython) and the machine (Linux with glibc) that a wheel must fit.
struct WheelTarget {
  std::string python;   ///< Python tag, "cp312"; empty: wheels for any Python and ABI fit
  std::string abi;      ///< ABI tag, "cp312", "cp313t"
  std::string machine;  ///< "x86_64", "aarch64"
};

/// The rank of a tag; larger is better. Kind of ABI, version of Python, age of the platform's
/// glibc.
using TagRank = std::tuple<int, int, int>;

/// Returns the rank of the best tag that fits. The target's own ABI comes first, then the stable
/// ABI, then wheels without an ABI. Of two platforms, the one with the older glibc is better,
/// because it runs on more hosts. All tags rank alike for a target without a Python. Returns
/// nothing when none fits.
std::optional<TagRank> rank_of(std::vector<WheelTag> const& tags, WheelTarget const& target);

/// True when one of the tags has exactly the target's Python and ABI: the wheel was compiled for
/// this interpreter.
bool is_compiled_for(std::vector<WheelTag> const& tags, WheelTarget const& target);

/// Returns the tag in which the files of one version for several Pythons differ: the ABI, "cp313t",
/// or the Python of a wheel with the stable ABI or none, "cp39". Empty for a wheel of pure Python.
std::string variant_of(std::vector<WheelTag> const& tags);

/// Returns "3.12" for the Python tag "cp312". Empty for the tags of any Python.
std::string python_version_of(std::string_view tag);

}  // namespace torchwatch::fetch
