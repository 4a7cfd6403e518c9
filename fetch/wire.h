#pragma once

#include <string>
#include <variant>

#include "fetch/carry_out.h"
#include "fetch/companions.h"
#include "fetch/index.h"

/// The messages between the service and torchwatch-fetch, one line of JSON each: one request on
/// standard input, then any number of progress messages and one result on standard output.
namespace torchwatch::fetch {

using Request = std::variant<FetchRequest, IndexRequest, CompanionRequest>;

/// The error of a request that has no result.
struct Refusal {
  Error error;
};

/// A progress message, or the last message: the result or the error.
using Message = std::variant<FetchProgress, Fetched, Index, CompanionFile, Refusal>;

std::string encode(Request const& request);
std::string encode(Message const& message);

/// Parse a message. They fail with corrupt, naming the missing or invalid part.
Result<Request> decode_request(std::string const& line);
Result<Message> decode_message(std::string const& line);

}  // namespace torchwatch::fetch
