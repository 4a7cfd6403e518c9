#include "fetch/index_page.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <libxml/HTMLparser.h>

#include "http/url.h"
#include "storage/base/digest.h"

namespace torchwatch::fetch {
namespace {

struct FreeParser {
  void operator()(htmlParserCtxt* parser) const { htmlFreeParserCtxt(parser); }
};

// libxml2 has its own character type for UTF-8.
std::string to_string(xmlChar const* text) {
  return text == nullptr ? std::string{} : reinterpret_cast<char const*>(text);
}

/// Returns the text with its ASCII letters in lower case. Unlike boost, looks up no locale for each
/// character.
std::string lower_of(std::string_view text) {
  std::string lower{text};
  for (auto& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

/// Returns the digits of "sha256=...". Empty for other texts.
std::string sha256_in(std::string const& fragment) {
  constexpr std::string_view start = "sha256=";
  if (!fragment.starts_with(start)) return {};
  auto digits = lower_of(fragment.substr(start.size()));
  return is_sha256(digits) ? digits : std::string{};
}

/// Collects the links from the events of the parser.
class Collector {
 public:
  explicit Collector(http::Url base) : base_{std::move(base)} {}

  void start(std::string const& element, std::span<xmlChar const* const> attributes) {
    // The parser adds these elements to any text.
    if (element != "html" && element != "body" && element != "p") has_elements_ = true;
    if (element == "base") read_base(attributes);
    if (element == "a") read_anchor(attributes);
  }

  bool has_elements() const { return has_elements_; }

  std::vector<PageLink> links() && { return std::move(links_); }

 private:
  /// Returns the value of an attribute. `attributes`: names and values in turn; a missing value is
  /// null.
  static std::optional<std::string> value_of(std::string_view name,
                                             std::span<xmlChar const* const> attributes) {
    for (std::size_t i = 0; i + 1 < attributes.size(); i += 2)
      if (to_string(attributes[i]) == name) return to_string(attributes[i + 1]);
    return std::nullopt;
  }

  void read_base(std::span<xmlChar const* const> attributes) {
    if (auto const href = value_of("href", attributes))
      if (auto const url = base_.resolve(*href)) base_ = *url;
  }

  void read_anchor(std::span<xmlChar const* const> attributes) {
    auto const href = value_of("href", attributes);
    auto const url = href ? base_.resolve(*href) : std::nullopt;
    if (!url || !url->is_http()) return;
    links_.push_back({url->without_fragment(),
                      url->file_name(),
                      sha256_in(url->fragment()),
                      value_of("data-yanked", attributes).has_value(),
                      value_of("data-requires-python", attributes).value_or("")});
  }

  http::Url base_;
  std::vector<PageLink> links_;
  bool has_elements_ = false;
};

void on_start(void* collector, xmlChar const* element, xmlChar const** attributes) {
  std::size_t count = 0;
  while (attributes != nullptr && attributes[count] != nullptr)
    count += 2;
  static_cast<Collector*>(collector)->start(to_string(element), {attributes, count});
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Returns the end of `text` from the last `part` on. Empty when there is none.
std::string_view from_last(std::string_view text, std::string_view part) {
  return text.substr(std::min(text.rfind(part), text.size()));
}

/// True for an HTML document, as opposed to a list of anchors. `page`: in lower case.
bool is_document(std::string_view page) {
  return has(page, "<!doctype") || has(page, "<html");
}

/// True when the end of the page is missing. The parser does not report that. `page`: in lower
/// case.
bool is_cut_off(std::string_view page) {
  if (is_document(page) && !has(page, "</html>")) return true;
  auto const anchor = from_last(page, "<a ");
  auto const comment = from_last(page, "<!--");
  return (!anchor.empty() && !has(anchor, "</a>")) || (!comment.empty() && !has(comment, "-->"));
}

}  // namespace

Result<std::vector<PageLink>> links_of(std::string_view page, std::string const& url) {
  auto const bad = [&url](std::string const& why) {
    return Error{ErrorCode::corrupt, "index " + url + ": " + why};
  };
  if (page.size() > largest_page)
    return bad("it has " + std::to_string(page.size()) + " bytes, allowed are " +
               std::to_string(largest_page));
  auto const lower = lower_of(page);
  if (is_cut_off(lower)) return bad("it is incomplete");
  auto const base = http::Url::parse(url);
  if (!base) return bad("its URL is invalid");
  Collector collector{*base};
  htmlSAXHandler events{};
  events.startElement = on_start;
  std::unique_ptr<htmlParserCtxt, FreeParser> const parser{htmlCreatePushParserCtxt(
      &events, &collector, nullptr, 0, url.c_str(), XML_CHAR_ENCODING_NONE)};
  if (!parser) throw std::bad_alloc{};
  // The parser's errors are ignored, because it still reads such pages.
  htmlParseChunk(parser.get(), page.data(), static_cast<int>(page.size()), 1);
  if (!is_document(lower) && !collector.has_elements()) return bad("it is not an HTML page");
  return std::move(collector).links();
}

}  // namespace torchwatch::fetch
