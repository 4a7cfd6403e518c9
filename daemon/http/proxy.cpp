#include "daemon/http/proxy.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/join.hpp>

namespace torchwatch::http {
namespace {

void set_variable(std::string const& name, std::string const& value) {
  ::setenv(name.c_str(), value.c_str(), 1);
  ::setenv(boost::to_upper_copy(name).c_str(), value.c_str(), 1);
}

}  // namespace

void use_proxy(config::ProxyOptions const& options) {
  if (options.url.empty()) return;
  for (auto const* const name : {"http_proxy", "https_proxy", "all_proxy"})
    set_variable(name, options.url);
  // libcurl reads "*" as all hosts only if it stands alone.
  bool const is_unused = std::ranges::find(options.except, "*") != options.except.end();
  set_variable("no_proxy", is_unused ? "*" : boost::join(options.except, ","));
}

}  // namespace torchwatch::http
