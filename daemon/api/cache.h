#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "daemon/http/http_message.h"

namespace torchwatch::api {

/// Answers that hold until the store changes. Many people look at the same page while a sweep is
/// written, and a chart of ten years need not be worked out for each.
class Cache {
 public:
  /// `most_bytes`: of memory for all that is kept: targets, headers and bodies, with what maps and
  /// the allocator add. An answer that takes more than a quarter of it is not kept.
  explicit Cache(std::size_t most_bytes) : most_bytes_{most_bytes} {}

  /// The answer to `target`, when one was kept at this version of the store.
  std::optional<http::HttpResponse> find(std::string const& target, std::int64_t version);

  /// Keeps a good answer, and returns it: what is kept shares its body with all that find it. Where
  /// it has no room beside the others, these are forgotten.
  http::HttpResponse keep(std::string const& target,
                          std::int64_t version,
                          http::HttpResponse response);

 private:
  std::size_t most_bytes_;
  std::int64_t version_ = 0;
  std::size_t bytes_ = 0;
  std::map<std::string, http::HttpResponse> answers_;  // all of version_
};

}  // namespace torchwatch::api
