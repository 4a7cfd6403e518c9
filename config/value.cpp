#include "config/value.h"

namespace torchwatch::config {
namespace {

constexpr std::size_t longest_quote = 160;

bool continues_a_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80;
}

}  // namespace

std::string found(Json const& json) {
  if (json.is_structured()) return json.type_name();
  auto text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= longest_quote) return text;
  auto end = longest_quote;
  while (continues_a_character(text[end]))
    --end;
  return text.substr(0, end) + "...";
}

Json bound(double value) {
  auto const whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

std::string allowed_text(Rule const& rule) {
  if (!rule.pattern.meaning.empty()) return std::string{rule.pattern.meaning};
  switch (rule.form) {
    case Form::text:
      return rule.non_empty ? "a text that is not empty" : "a text";
    case Form::address:
      return "an IPv4 or IPv6 address, or unix:/PATH of at most 107 bytes";
    case Form::path:
      return "a path";
    case Form::directory:
      return "an existing directory";
    case Form::file:
      return "an existing file";
    case Form::executable:
      return "an existing executable file";
  }
  return "";
}

}  // namespace torchwatch::config
