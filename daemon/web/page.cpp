#include "daemon/web/page.h"

#include <cstdlib>
#include <memory>
#include <mutex>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include "daemon/web/assets.h"

namespace torchwatch::web {
namespace {

struct FreeNode {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
};

struct FreeParser {
  void operator()(cmark_parser* parser) const { cmark_parser_free(parser); }
};

struct FreeText {
  void operator()(char* text) const { std::free(text); }
};

using Parser = std::unique_ptr<cmark_parser, FreeParser>;

/// The default of cmark-gfm is the safe mode: it leaves out raw HTML and unsafe links.
constexpr int options = CMARK_OPT_DEFAULT | CMARK_OPT_VALIDATE_UTF8;

Parser make_parser() {
  static std::once_flag registered;
  std::call_once(registered, cmark_gfm_core_extensions_ensure_registered);
  Parser parser{cmark_parser_new(options)};
  for (auto const* const name : {"table", "strikethrough", "autolink"})
    cmark_parser_attach_syntax_extension(parser.get(), cmark_find_syntax_extension(name));
  return parser;
}

}  // namespace

std::string html_of(std::string_view markdown) {
  auto const parser = make_parser();
  cmark_parser_feed(parser.get(), markdown.data(), markdown.size());
  std::unique_ptr<cmark_node, FreeNode> const tree{cmark_parser_finish(parser.get())};
  std::unique_ptr<char, FreeText> const html{
      cmark_render_html(tree.get(), options, cmark_parser_get_syntax_extensions(parser.get()))};
  return html.get();
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (char const character : text) {
    switch (character) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += character;
    }
  }
  return safe;
}

std::string document(Page const& page) {
  constexpr std::string_view title_mark = "{{title}}";
  constexpr std::string_view content_mark = "{{content}}";
  std::string_view const frame = find_asset("frame.html")->contents;
  auto const title = frame.find(title_mark);
  auto const content = frame.find(content_mark);
  std::string text{frame.substr(0, title)};
  text += escaped(page.title);
  text += frame.substr(title + title_mark.size(), content - title - title_mark.size());
  text += page.content;
  text += frame.substr(content + content_mark.size());
  return text;
}

std::string_view without_scripts() {
  return R"(<noscript><p>This page needs JavaScript. Without it, you can read the <a href="/incidents">incidents</a> and their reports.</p></noscript>)";
}

}  // namespace torchwatch::web
