#pragma once

#include "config/options.h"

namespace torchwatch::http {

/// Makes the configured proxy, if any, the proxy of this process and its children. Sets http_proxy,
/// https_proxy, all_proxy and no_proxy, also in capitals. Call it before threads start.
void use_proxy(config::ProxyOptions const& options);

}  // namespace torchwatch::http
