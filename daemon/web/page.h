#pragma once

#include <string>
#include <string_view>

namespace torchwatch::web {

/// What stands in a page before any script has run, and where none ever does.
struct Page {
  std::string_view title;    ///< plain text
  std::string_view content;  ///< HTML
};

/// The whole document: every page has the same frame, and scripts fill it.
std::string document(Page const& page);

/// What every page but a report says to a browser without scripts.
std::string_view without_scripts();

/// Markdown as GitHub has it (tables, strikethrough, links that are not marked) as HTML. HTML in it
/// is left out, and so are links that are no http, https or mail: whoever wrote it, nothing of it
/// runs. Pure (cmark-gfm, the library that GitHub renders with).
std::string html_of(std::string_view markdown);

/// Plain text as HTML.
std::string escaped(std::string_view text);

}  // namespace torchwatch::web
