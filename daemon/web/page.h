#pragma once

#include <string>
#include <string_view>

namespace torchwatch::web {

/// The content of a page before scripts run. Browsers without scripts show only this.
struct Page {
  std::string_view title;    ///< plain text
  std::string_view content;  ///< HTML
};

/// Returns the HTML document of a page: the frame that all pages share, with this content.
std::string document(Page const& page);

/// Returns the HTML that browsers without scripts show on all pages except reports.
std::string_view without_scripts();

/// Converts GitHub's Markdown (tables, strikethrough, bare links) to HTML that cannot run code.
/// Leaves out raw HTML, and links to javascript:, vbscript:, file: and data: (except
/// images). Uses cmark-gfm, GitHub's own renderer. Pure.
std::string html_of(std::string_view markdown);

/// Converts plain text to HTML: escapes &, <, > and double quotes.
std::string escaped(std::string_view text);

}  // namespace torchwatch::web
