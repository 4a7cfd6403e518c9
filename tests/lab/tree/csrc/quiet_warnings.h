#pragma once

#include <c10/util/Exception.h>
#include <torch/version.h>

#include <string>

namespace lab {

// The names of PyTorch's warnings changed with version 2.
#if TORCH_VERSION_MAJOR >= 2
namespace warnings = c10::WarningUtils;
#else
namespace warnings = c10::Warning;
#endif

// Swallows warnings while it lives.
class QuietWarnings final : public c10::WarningHandler {
 public:
  QuietWarnings() : previous_(warnings::get_warning_handler()) {
    warnings::set_warning_handler(this);
  }

  ~QuietWarnings() override { warnings::set_warning_handler(previous_); }

#if TORCH_VERSION_MAJOR >= 2
  void process(const c10::Warning&) override {}
#else
  void process(const c10::SourceLocation&, const std::string&, bool) override {}
#endif

 private:
  c10::WarningHandler* previous_;
};

}  // namespace lab
