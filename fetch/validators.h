#pragma once

#include <string>

namespace torchwatch::fetch {

/// How a server names one version of a file (RFC 9110, 8.8). Either may be empty.
struct Validators {
  std::string etag;
  std::string last_modified;
  friend bool operator==(Validators const&, Validators const&) = default;
};

}  // namespace torchwatch::fetch
