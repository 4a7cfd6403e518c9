#include "config/reader.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include <unistd.h>

namespace torchwatch::config {
namespace {

namespace fs = std::filesystem;

/// 0.07 as people write it, not as it is stored.
std::string text_of(double number) {
  std::ostringstream text;
  text.precision(15);
  text << number;
  return text.str();
}

/// What is wrong with what a path points at; empty when nothing is.
std::string wrong_with(fs::path const& path, PathTo kind) {
  std::error_code ignored;
  switch (kind) {
    case PathTo::nothing:
      return "";
    case PathTo::directory:
      return fs::is_directory(path, ignored) ? "" : "an existing directory";
    case PathTo::file:
      return fs::is_regular_file(path, ignored) ? "" : "an existing file";
    case PathTo::executable:
      return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0
                 ? ""
                 : "an existing executable file";
  }
  return "";
}

}  // namespace

Json const* Reader::find(char const* key) {
  asked_.emplace_back(key);
  auto const member = json_.find(key);
  return member == json_.end() ? nullptr : &*member;
}

std::string Reader::path_to(std::string const& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void Reader::finish() {
  for (auto const& [key, value] : json_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    if (path_.empty() && key == "$schema") continue;
    std::string allowed;
    for (auto const& name : asked_)
      allowed += (allowed.empty() ? " " : ", ") + name;
    complaints_.add(path_to(key), "found an unknown key, allowed are" + allowed);
  }
}

void Reader::check_range(Json const& json,
                         double value,
                         std::string const& path,
                         Rule const& rule) {
  bool const too_small = rule.minimum && value < *rule.minimum;
  bool const too_large = rule.maximum && value > *rule.maximum;
  if (!too_small && !too_large) return;
  auto allowed = rule.minimum ? "at least " + text_of(*rule.minimum) : std::string{};
  if (rule.maximum)
    allowed += (allowed.empty() ? "at most " : " and at most ") + text_of(*rule.maximum);
  complaints_.add(path, "found " + json.dump() + ", allowed is " + allowed);
}

void Reader::check_text(std::string& text, std::string const& path, Rule const& rule) {
  if (text.empty() && rule.non_empty) {
    complaints_.add(path, "found \"\", allowed is a text that is not empty");
    return;
  }
  if (!rule.pattern.empty() && !std::regex_match(text, std::regex{std::string{rule.pattern}})) {
    complaints_.add(path,
                    "found \"" + text + "\", allowed is what matches " + std::string{rule.pattern});
  }
  if (rule.path == PathTo::nothing || text.empty()) return;
  text = (directory_ / text).lexically_normal().string();
  if (auto const wanted = wrong_with(text, rule.path); !wanted.empty())
    complaints_.add(path, "found \"" + text + "\", allowed is " + wanted);
}

}  // namespace torchwatch::config
