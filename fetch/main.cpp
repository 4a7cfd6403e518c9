#include <iostream>
#include <string>

#include "fetch/wire.h"

namespace torchwatch::fetch {
namespace {

void send(Message const& message) {
  std::cout << encode(message) << std::endl;  // flushed, because the service waits
}

template <class T>
Message message_of(Result<T> result) {
  if (result) return std::move(*result);
  return Refusal{result.error()};
}

Message answer_to(Request const& request) {
  if (auto const* const index = std::get_if<IndexRequest>(&request))
    return message_of(look_into(*index));
  if (auto const* const companion = std::get_if<CompanionRequest>(&request))
    return message_of(find_companion(*companion));
  return message_of(carry_out(std::get<FetchRequest>(request), send));
}

}  // namespace
}  // namespace torchwatch::fetch

/// torchwatch-fetch: downloads, reads and unpacks files of others in a separate process, so a
/// crash, hang or leak does not affect the service. Exit status 0 when a result or an error was
/// sent.
int main() {
  namespace fetch = torchwatch::fetch;
  std::string line;
  std::getline(std::cin, line);
  auto const request = fetch::decode_request(line);
  fetch::send(request ? fetch::answer_to(*request) : fetch::Refusal{request.error()});
  return 0;
}
