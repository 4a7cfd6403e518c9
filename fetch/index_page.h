#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// Bytes of an index page. One of 20,000 files has about 5 MB.
inline constexpr std::size_t largest_page = 64 << 20;

/// What an index page links to: one anchor with an address.
struct PageLink {
  std::string url;   ///< absolute, without its fragment
  std::string name;  ///< the last part of its path, percent-decoded: a file's name
  /// Of the file, 64 lower-case hexadecimal digits, from a fragment "#sha256=..." (PEP 503); empty:
  /// the page does not say.
  std::string sha256;
  bool is_yanked = false;  ///< it has data-yanked (PEP 592): not to be installed
};

/// All links of an HTML page in its order, as the simple repository API has them (PEP 503) and as
/// PyTorch's LibTorch listing does: anchors one after the other, with or without a document around
/// them. `url`: where the page was found; relative links are resolved against it, or against the
/// page's own <base>. Anchors without an address, and addresses that are neither http nor https,
/// are passed over.
///
/// Fails with corrupt, naming `url` and what is wrong, when the page is larger than
/// `largest_page`, is no HTML, or ends in the midst of it: half a list would look like a list.
Result<std::vector<PageLink>> links_of(std::string_view page, std::string const& url);

}  // namespace torchwatch::fetch
