#include "daemon/setup/checks.h"
#include "http/client.h"
#include "http/proxy.h"

namespace torchwatch::setup {

PendingCheck check_proxy() {
  auto const variables = http::proxy_variables("https");
  if (variables.url.empty())
    co_return std::string{"none: neither proxy.url nor https_proxy names one"};
  auto const address = http::address_of_proxy(variables.url);
  http::Options options;
  options.proxy = "";
  options.limit = std::chrono::seconds{5};
  http::Client client;
  auto const opened = client.connect("http://" + address, options);
  if (!opened) co_return within("proxy " + address, opened.error());
  auto const direct = variables.except.empty() ? "" : "; asked directly are " + variables.except;
  co_return "proxy " + address + ": listens" + direct;
}

}  // namespace torchwatch::setup
