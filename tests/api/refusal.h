#pragma once

#include <string>
#include <vector>

namespace torchwatch::tests {

/// What a client sends, and what it is told.
struct Refusal {
  std::string name;
  std::string request;
  int status = 400;
  std::string field{};   ///< of one of the errors, if any
  std::string detail{};  ///< part of the error's, or else of the problem's
};

/// Sends each request to a live API: every answer has to be a problem that says what is expected,
/// no bisection may have been asked for or steered, and the service has to answer the next client.
void expect_refused(std::vector<Refusal> const& refusals);

/// A request without a body.
std::string with_headers(std::string const& line, std::string const& headers);

}  // namespace torchwatch::tests
