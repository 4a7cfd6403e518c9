#pragma once

#include <optional>
#include <string>

#include <stdlib.h>

namespace torchwatch::tests {

/// An environment variable of this process that has another value, or none, while the object
/// exists.
class TemporaryVariable {
 public:
  TemporaryVariable(std::string name, std::optional<std::string> const& value)
      : name_{std::move(name)} {
    if (auto const* const before = ::getenv(name_.c_str())) before_ = before;
    set(value);
  }

  TemporaryVariable(TemporaryVariable const&) = delete;
  TemporaryVariable& operator=(TemporaryVariable const&) = delete;

  ~TemporaryVariable() { set(before_); }

 private:
  void set(std::optional<std::string> const& value) const {
    if (value)
      ::setenv(name_.c_str(), value->c_str(), 1);
    else
      ::unsetenv(name_.c_str());
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace torchwatch::tests
