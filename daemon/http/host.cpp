#include "daemon/http/host.h"

#include <algorithm>
#include <array>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/ip/address.hpp>
#include <unistd.h>

namespace torchwatch::http {

namespace {

/// Returns the host without brackets and port, in lower case: "::1" for "[::1]:80".
std::string name_in(std::string_view host) {
  if (host.starts_with('[')) return std::string{host.substr(1, host.find(']') - 1)};
  return boost::to_lower_copy(std::string{host.substr(0, host.find(':'))});
}

std::string own_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return boost::to_lower_copy(std::string{name.data()});
}

}  // namespace

bool is_host_ours(std::string_view host, std::vector<std::string> const& names) {
  auto const name = name_in(host);
  boost::system::error_code is_none;
  boost::asio::ip::make_address(name, is_none);
  return !is_none || name == "localhost" || name == own_name() ||
         std::ranges::find(names, name) != names.end();
}

}  // namespace torchwatch::http
