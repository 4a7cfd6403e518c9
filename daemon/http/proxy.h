#pragma once

#include "config/options.h"

namespace torchwatch::http {

/// Makes the configured proxy, if any, the proxy of this process and its children: sets
/// http_proxy, https_proxy, all_proxy and no_proxy, in capitals, too. There may be no threads yet.
void use_proxy(config::ProxyOptions const& options);

}  // namespace torchwatch::http
