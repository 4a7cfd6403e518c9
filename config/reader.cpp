#include "config/reader.h"

#include <algorithm>
#include <regex>

#include <unistd.h>

#include "config/address.h"

namespace torchwatch::config {
namespace {

namespace fs = std::filesystem;

bool is_control(char byte) {
  return (byte >= 0 && byte < ' ') || byte == '\x7f';
}

bool has_form(std::string const& text, Form form) {
  std::error_code ignored;
  switch (form) {
    case Form::text:
    case Form::path:
      return true;
    case Form::address:
      return is_address(text);
    case Form::directory:
      return fs::is_directory(text, ignored);
    case Form::file:
      return fs::is_regular_file(text, ignored);
    case Form::executable:
      return fs::is_regular_file(text, ignored) && ::access(text.c_str(), X_OK) == 0;
  }
  return false;
}

bool matches(std::string const& text, Pattern const& pattern) {
  if (pattern.expression.empty()) return true;
  return text.size() <= longest_match &&
         std::regex_match(text, std::regex{std::string{pattern.expression}});
}

}  // namespace

Json const* Reader::find(char const* key) {
  asked_.emplace_back(key);
  auto const member = json_.find(key);
  return member == json_.end() ? nullptr : &*member;
}

void Reader::finish() {
  for (auto const& [key, value] : json_.items()) {
    if (std::ranges::find(asked_, key) != asked_.end()) continue;
    if (path_.empty() && key == "$schema") continue;
    std::string allowed;
    for (auto const& name : asked_)
      allowed += (allowed.empty() ? "" : ", ") + name;
    complaints_.add(member_path(path_, key), "found an unknown key, allowed are " + allowed);
  }
}

void Reader::check_text(std::string& text, std::string const& path, Rule const& rule) {
  if (std::ranges::any_of(text, is_control)) {
    complaints_.add(path, found(text), "a text without control characters");
    return;
  }
  if (text.empty()) {
    if (rule.non_empty) complaints_.add(path, found(text), allowed_text(rule));
    return;
  }
  if (rule.form != Form::text && rule.form != Form::address)
    text = (directory_ / text).lexically_normal().string();
  if (!matches(text, rule.pattern) || !has_form(text, rule.form))
    complaints_.add(path, found(text), allowed_text(rule));
}

}  // namespace torchwatch::config
