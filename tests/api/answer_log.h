#pragma once

#include <string_view>

#include "tests/api/http_client.h"

namespace torchwatch::tests {

/// Where TORCHWATCH_ANSWERS names a directory, adds a request and its answer to a file of this
/// process there, a JSON object a line: {method, target, status, headers, body}. tests/openapi
/// compares them with what openapi.json describes.
void log_answer(std::string_view request, Answer const& answer);

}  // namespace torchwatch::tests
