#include "http/proxy.h"

#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include <boost/algorithm/string/case_conv.hpp>

namespace torchwatch::http {
namespace {

/// Returns the value of the first variable that is set and not empty.
std::string first_of(std::initializer_list<std::string> names) {
  for (auto const& name : names) {
    auto const* const value = std::getenv(name.c_str());  // never set while there are threads
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

}  // namespace

ProxyVariables proxy_variables(std::string const& scheme) {
  auto const name = scheme + "_proxy";
  // Not HTTP_PROXY: in a CGI program, clients of the web server can set it with a Proxy header.
  auto const capitals = scheme == "http" ? name : boost::to_upper_copy(name);
  return {first_of({name, capitals, "all_proxy", "ALL_PROXY"}), first_of({"no_proxy", "NO_PROXY"})};
}

std::string address_of_proxy(std::string const& url) {
  constexpr std::string_view scheme_end = "://";
  auto begin = url.find(scheme_end);
  begin = begin == std::string::npos ? 0 : begin + scheme_end.size();
  if (auto const user_end = url.rfind('@'); user_end != std::string::npos) begin = user_end + 1;
  auto address = url.substr(begin, url.find('/', begin) - begin);
  auto const colon = address.rfind(':');
  bool const has_port = colon != std::string::npos && address.find(']', colon) == std::string::npos;
  if (!has_port) address += url.starts_with("https://") ? ":443" : ":1080";
  return address;
}

}  // namespace torchwatch::http
