#pragma once

#include <string>

namespace torchwatch::fetch {

/// A server's names of one version of a file (RFC 9110, 8.8). Each may be empty.
struct Validators {
  std::string etag;
  std::string last_modified;
  friend bool operator==(Validators const&, Validators const&) = default;
};

}  // namespace torchwatch::fetch
