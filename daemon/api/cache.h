#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "daemon/http/http_message.h"

namespace torchwatch::api {

/// Responses that are valid until the store changes. When many users look at the same page, the
/// service computes it only once.
class Cache {
 public:
  /// `most_bytes`: limit of memory, in bytes, for targets, headers and bodies, including the
  /// overhead of maps and allocator. A response that needs more than a quarter is not kept.
  explicit Cache(std::size_t most_bytes) : most_bytes_{most_bytes} {}

  /// Returns the response to `target` if one was kept for this version of the store.
  std::optional<http::HttpResponse> find(std::string const& target, std::int64_t version);

  /// Keeps a response with status 200, and returns it. The kept response shares its body with all
  /// responses that find() returns. If the memory does not suffice, all others are removed.
  http::HttpResponse keep(std::string const& target,
                          std::int64_t version,
                          http::HttpResponse response);

 private:
  std::size_t most_bytes_;
  std::int64_t version_ = 0;
  std::size_t bytes_ = 0;
  std::map<std::string, http::HttpResponse> answers_;  // key: target; all for version_
};

}  // namespace torchwatch::api
