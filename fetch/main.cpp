#include <iostream>
#include <string>

#include "fetch/wire.h"

namespace torchwatch::fetch {
namespace {

void tell(FetchMessage const& message) {
  std::cout << encode(message) << std::endl;  // at once: somebody waits
}

}  // namespace
}  // namespace torchwatch::fetch

/// torchwatch-fetch: downloads and unpacks what strangers made, in a process of its own, so that
/// what goes wrong with that is no trouble of the service. Exit status 0 when there was an answer.
int main() {
  namespace fetch = torchwatch::fetch;
  std::string line;
  std::getline(std::cin, line);
  auto const order = fetch::decode_order(line);
  fetch::tell(fetch::FetchEnd{order ? fetch::carry_out(*order, fetch::tell) : order.error()});
  return 0;
}
