#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include <boost/algorithm/string/case_conv.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "github/transport.h"

namespace torchwatch::fakes {

/// Adds a request to a file of this process in the directory TORCHWATCH_GITHUB_REQUESTS, if that is
/// set. A test compares these requests with GitHub's description of its API.
inline void log_request(github::Request const& request) {
  auto const* const directory = std::getenv("TORCHWATCH_GITHUB_REQUESTS");
  if (directory == nullptr) return;
  nlohmann::json line{{"method", request.method}, {"target", request.url}, {"body", request.body}};
  line["headers"] = nlohmann::json::object();
  for (auto const& [name, value] : request.headers)
    line["headers"][boost::to_lower_copy(name)] = value;
  std::ofstream file{directory + ("/" + std::to_string(::getpid()) + ".jsonl"), std::ios::app};
  file << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace torchwatch::fakes
