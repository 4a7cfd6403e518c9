#pragma once

#include <string>
#include <variant>

#include "fetch/carry_out.h"

/// What the service and torchwatch-fetch say to each other: a line of JSON each, an order on
/// standard input, then any number of lines of progress and one answer on standard output.
namespace torchwatch::fetch {

/// The last message.
struct FetchEnd {
  Result<Fetched> result;
};

using FetchMessage = std::variant<FetchProgress, FetchEnd>;

std::string encode(FetchOrder const& order);
std::string encode(FetchMessage const& message);

/// Both fail with corrupt, naming what is missing or wrong.
Result<FetchOrder> decode_order(std::string const& line);
Result<FetchMessage> decode_message(std::string const& line);

}  // namespace torchwatch::fetch
