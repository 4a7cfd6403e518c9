#pragma once

#include <string_view>

#include "tests/api/http_client.h"

namespace torchwatch::tests {

/// Adds a request and its response to a file of this process in the directory TORCHWATCH_ANSWERS,
/// if that is set. A line is a JSON object: {method, target, status, headers, body}. tests/openapi
/// compares these with openapi.json.
void log_answer(std::string_view request, Answer const& answer);

}  // namespace torchwatch::tests
