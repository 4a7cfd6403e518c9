#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon/http/http_message.h"

namespace torchwatch::api {

/// Returns `text` in quotes, cut after 120 bytes.
std::string in_quotes(std::string_view text);

/// Returns "found ..." for errors. Objects and arrays are not shown, and long text is cut.
std::string found(nlohmann::json const& value);

/// The JSON object that a client sent, and all errors in it. Reading continues after an error, so
/// that one response has all of them.
class Body {
 public:
  /// Parses `text`. Each field of `known` is allowed once, and no other field. Values below the
  /// second level are dropped.
  Body(std::string const& text, std::span<char const* const> known);

  /// False if the body is not a JSON object.
  bool is_object() const { return is_object_; }

  /// Returns the value of a field; null if the request does not have it.
  nlohmann::json const* field(char const* name) const;

  /// Returns the word in a field, parsed by `meaning`. Returns nothing if the field is missing, or,
  /// with an error, if it is not one of `allowed`.
  template <class Word>
  std::optional<Word> word(char const* name,
                           std::optional<Word> (*meaning)(std::string_view),
                           std::string const& allowed) {
    auto const* value = field(name);
    if (value == nullptr) return std::nullopt;
    auto const known =
        value->is_string() ? meaning(value->get_ref<std::string const&>()) : std::optional<Word>{};
    if (!known) refuse(name, found(*value) + ", allowed " + allowed);
    return known;
  }

  /// Returns the text in a field. Adds an error if it is missing, blank or longer than 1000 bytes.
  std::string words(char const* name);

  /// Adds an error.
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
