#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon/http/http_message.h"

namespace torchwatch::api {

/// `text` in quotes, cut where it gets long.
std::string in_quotes(std::string_view text);

/// "found ...", in a few words: what a client sent may be long and deep.
std::string found(nlohmann::json const& value);

/// The JSON object that a client sent, and everything that is wrong with it. Reading goes on after
/// an error, so that one answer names them all.
class Body {
 public:
  /// Each of `known` may be there once, and nothing else. A request has two levels at most.
  Body(std::string const& text, std::span<char const* const> known);

  /// False when there is no object to look at.
  bool is_object() const { return is_object_; }

  /// The value of a field; nothing when the request does not have it.
  nlohmann::json const* field(char const* name) const;

  /// The word that a field holds, as `meaning` has it; nothing when the field is missing or wrong.
  template <class Word>
  std::optional<Word> word(char const* name,
                           std::optional<Word> (*meaning)(std::string_view),
                           char const* allowed) {
    auto const* value = field(name);
    if (value == nullptr) return std::nullopt;
    auto const known =
        value->is_string() ? meaning(value->get_ref<std::string const&>()) : std::optional<Word>{};
    if (!known) refuse(name, found(*value) + ", allowed " + allowed);
    return known;
  }

  /// The text for people that a field holds; refused when it is missing, blank or too long.
  std::string words(char const* name);

  void refuse(std::string field, std::string detail);

  std::vector<http::FieldError> const& errors() const { return errors_; }

 private:
  void parse(std::string const& text);
  void check_names(std::span<char const* const> known);

  nlohmann::json object_ = nlohmann::json::object();
  bool is_object_ = false;
  std::vector<http::FieldError> errors_;
};

}  // namespace torchwatch::api
