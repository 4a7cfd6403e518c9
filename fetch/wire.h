#pragma once

#include <string>
#include <variant>

#include "fetch/carry_out.h"
#include "fetch/companions.h"
#include "fetch/index.h"

/// What the service and torchwatch-fetch say to each other: a line of JSON each, a request on
/// standard input, then any number of lines of progress and one answer on standard output.
namespace torchwatch::fetch {

using Request = std::variant<FetchRequest, IndexRequest, CompanionRequest>;

/// Why there is none of what a request asked for.
struct Refusal {
  Error error;
};

/// Progress, or the last word: what the request asked for, or a refusal.
using Message = std::variant<FetchProgress, Fetched, Index, CompanionFile, Refusal>;

std::string encode(Request const& request);
std::string encode(Message const& message);

/// Both fail with corrupt, naming what is missing or wrong.
Result<Request> decode_request(std::string const& line);
Result<Message> decode_message(std::string const& line);

}  // namespace torchwatch::fetch
