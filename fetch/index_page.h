#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// The largest index page, in bytes. A page with 20,000 files has about 5 MB.
inline constexpr std::size_t largest_page = 64 << 20;

/// A link of an index page: one anchor with an address.
struct PageLink {
  std::string url;   ///< absolute, without its fragment
  std::string name;  ///< the last part of its path, percent-decoded: the name of a file
  /// Hash of the file from a fragment "#sha256=..." (PEP 503), 64 lower-case hexadecimal digits.
  /// Empty if the page has none.
  std::string sha256;
  bool is_yanked = false;  ///< it has data-yanked (PEP 592) and must not be installed
  /// Versions of Python from data-requires-python (PEP 503), ">=3.10". Empty if the page has none.
  std::string requires_python{};
};

/// Returns all links of an HTML page in its order. Reads pages of the simple repository API (PEP
/// 503) and PyTorch's LibTorch listing: anchors one after the other, with or without a document
/// around them. `url`: address of the page. Relative links are resolved against it, or against the
/// page's own <base>. Skips anchors without an address, and addresses other than http and https.
///
/// Fails with corrupt, naming `url` and the problem, when the page is larger than `largest_page`,
/// is not HTML, or is incomplete, because half a list would look like a list.
Result<std::vector<PageLink>> links_of(std::string_view page, std::string const& url);

}  // namespace torchwatch::fetch
