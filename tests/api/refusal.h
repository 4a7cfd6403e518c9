#pragma once

#include <string>
#include <vector>

namespace torchwatch::tests {

/// A request, and the problem that must be the response.
struct Refusal {
  std::string name;
  std::string request;
  int status = 400;
  std::string field{};   ///< field of one of the errors; empty: no errors
  std::string detail{};  ///< part of the detail of the error, or else of the problem
};

/// Sends each request to a live API. Every response must be the expected problem, no bisection may
/// be requested or changed, and the service must answer the next client.
void expect_refused(std::vector<Refusal> const& refusals);

/// Returns a request without a body.
std::string with_headers(std::string const& line, std::string const& headers);

}  // namespace torchwatch::tests
