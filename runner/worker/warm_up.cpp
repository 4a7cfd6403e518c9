#include "runner/worker/warm_up.h"

#include <algorithm>

namespace torchwatch::worker {

void WarmUp::add(double duration) {
  bool const is_first = steps_++ == 0;
  total_ += duration;
  fastest_ = is_first ? duration : std::min(fastest_, duration);
  if (is_first || duration < gain * record_) {
    record_ = duration;
    idle_ = 0;
  } else {
    ++idle_;
  }
}

}  // namespace torchwatch::worker
