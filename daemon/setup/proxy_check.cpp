#include "daemon/net/proxy.h"
#include "daemon/setup/checks.h"

namespace torchwatch::setup {

Check check_proxy() {
  auto const rules = net::proxy_rules();
  if (rules.url.empty()) co_return std::string{"none: neither proxy.url nor https_proxy names one"};
  net::ProxyRules const without_exceptions{rules.url, ""};
  auto const proxy = net::proxy_for(without_exceptions, "", "");
  if (!proxy) co_return proxy.error();
  auto const name = (*proxy)->name();
  constexpr std::chrono::seconds patience{5};
  auto const opened = co_await net::knock_at(**proxy, patience);
  if (!opened) co_return opened.error();
  auto const direct = rules.except.empty() ? "" : "; asked directly are " + rules.except;
  co_return name + ": listens" + direct;
}

}  // namespace torchwatch::setup
