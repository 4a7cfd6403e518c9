#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "github/transport.h"

/// Reading answers that may hold anything.
namespace torchwatch::github {

/// The JSON object in an answer's body; an empty one when there is none.
inline nlohmann::json object_in(Response const& answer) {
  auto body = nlohmann::json::parse(answer.body, nullptr, false);
  return body.is_object() ? body : nlohmann::json::object();
}

/// The text at `key`; empty when there is none.
inline std::string text_at(nlohmann::json const& object, char const* key) {
  auto const found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

}  // namespace torchwatch::github
