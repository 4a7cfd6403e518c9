#include "daemon/api/body.h"

#include <algorithm>
#include <set>
#include <utility>

namespace torchwatch::api {
namespace {

constexpr int deepest = 2;

std::string excerpt(std::string_view text) {
  constexpr std::size_t enough = 120;
  return text.size() <= enough ? std::string{text} : std::string{text.substr(0, enough)} + "...";
}

}  // namespace

std::string in_quotes(std::string_view text) {
  return "\"" + excerpt(text) + "\"";
}

std::string found(nlohmann::json const& value) {
  if (value.is_object()) return "found an object";
  if (value.is_array()) return "found an array of " + std::to_string(value.size());
  if (value.is_string()) return "found " + in_quotes(value.get_ref<std::string const&>());
  return "found " + value.dump();
}

Body::Body(std::string const& text, std::span<char const* const> known) {
  parse(text);
  if (is_object_) check_names(known);
}

nlohmann::json const* Body::field(char const* name) const {
  auto const at = object_.find(name);
  return at == object_.end() ? nullptr : &*at;
}

std::string Body::words(char const* name) {
  constexpr std::size_t most_bytes = 1000;
  auto const* value = field(name);
  if (value != nullptr && value->is_string()) {
    auto const& text = value->get_ref<std::string const&>();
    bool const says_something = text.find_first_not_of(" \t\r\n") != std::string::npos;
    if (says_something && text.size() <= most_bytes) return text;
  }
  refuse(name,
         (value == nullptr ? "found nothing" : found(*value)) + ", allowed text of 1 to " +
             std::to_string(most_bytes) + " bytes");
  return {};
}

void Body::refuse(std::string field, std::string detail) {
  errors_.push_back({std::move(field), std::move(detail)});
}

void Body::parse(std::string const& text) {
  std::set<std::string> seen;
  auto const watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (event == nlohmann::json::parse_event_t::key && depth == 1) {
      auto const& name = value.get_ref<std::string const&>();
      if (!seen.insert(name).second) refuse(excerpt(name), "found twice, allowed once");
    }
    return depth <= deepest;
  };
  constexpr auto allowed = ", allowed a JSON object";
  try {
    object_ = nlohmann::json::parse(text, watch);
    is_object_ = object_.is_object();
    if (!is_object_) refuse("body", found(object_) + allowed);
  } catch (nlohmann::json::exception const& problem) {
    std::string_view const what = problem.what();
    refuse("body", "found invalid JSON: " + excerpt(what.substr(what.find(' ') + 1)) + allowed);
  }
}

void Body::check_names(std::span<char const* const> known) {
  std::string names;
  for (auto const* const name : known)
    names += (names.empty() ? "" : ", ") + std::string{name};
  for (auto const& [name, value] : object_.items())
    if (std::ranges::find(known, std::string_view{name}) == known.end())
      refuse(excerpt(name), found(value) + ", allowed only the fields " + names);
}

}  // namespace torchwatch::api
