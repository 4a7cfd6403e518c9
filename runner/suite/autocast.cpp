#include "runner/suite/autocast.h"

#include <ATen/autocast_mode.h>

#include "runner/suite/compatibility.h"

namespace torchwatch::suite {

namespace autocast = at::autocast;

Autocast::Autocast(torch::DeviceType device)
    : device_(device),
      before_(is_autocast_enabled(device)) {
  set_autocast_enabled(device_, true);
  autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (autocast::decrement_nesting() == 0) autocast::clear_cache();
  set_autocast_enabled(device_, before_);
}

}  // namespace torchwatch::suite
