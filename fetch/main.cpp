#include <iostream>
#include <string>

#include "fetch/wire.h"

/// torchwatch-fetch: downloads and unpacks what strangers made, in a process of its own, so that
/// what goes wrong with that is no trouble of the service. Exit status 0 when there was an answer.
int main() {
  using namespace torchwatch;
  std::string line;
  std::getline(std::cin, line);
  auto const order = fetch::decode_order(line);
  auto const tell = [](fetch::FetchMessage const& message) {
    std::cout << fetch::encode(message) << std::endl;
  };
  tell(fetch::FetchEnd{order ? fetch::carry_out(*order, tell) : order.error()});
  return 0;
}
