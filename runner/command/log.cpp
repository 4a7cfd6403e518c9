#include "runner/command/log.h"

namespace torchwatch::command {

void Log::add(std::string_view text) {
  tail_ += text;
  if (tail_.size() > tail_capacity) tail_.erase(0, tail_.size() - tail_capacity);
  auto const passed = text.substr(0, left_);
  if (!passed.empty()) sink_(passed);
  bool const is_full_now = left_ > 0 && text.size() > left_;
  left_ -= passed.size();
  if (is_full_now) sink_("\n[more output is left out]\n");
}

}  // namespace torchwatch::command
