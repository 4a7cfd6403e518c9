#include "daemon/api/cache.h"

#include <memory>
#include <utility>

namespace torchwatch::api {

std::optional<http::HttpResponse> Cache::find(std::string const& target, std::int64_t version) {
  auto const at = answers_.find(target);
  if (version != version_ || at == answers_.end()) return std::nullopt;
  return at->second;
}

http::HttpResponse Cache::keep(std::string const& target,
                               std::int64_t version,
                               http::HttpResponse response) {
  auto const size = target.size() + response.body.size();
  if (response.status != 200 || size > most_bytes_ / 4) return response;
  if (version != version_ || bytes_ + size > most_bytes_) {
    answers_.clear();
    bytes_ = 0;
  }
  version_ = version;
  response.shared_body = std::make_shared<std::string const>(std::move(response.body));
  response.body.clear();
  if (answers_.emplace(target, response).second) bytes_ += size;
  return response;
}

}  // namespace torchwatch::api
