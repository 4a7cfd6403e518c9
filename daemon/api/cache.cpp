#include "daemon/api/cache.h"

#include <memory>
#include <utility>

namespace torchwatch::api {

namespace {

/// Bytes that the allocator adds to a block.
constexpr std::size_t block_bytes = 16;
/// Bytes that a map adds to a pair: the links of its node, and its block.
constexpr std::size_t node_bytes = 32 + block_bytes;

std::size_t memory_of(std::string const& text) {
  return text.capacity() + block_bytes;
}

/// Returns the approximate memory of an entry. It is too small by at most the rounding of the
/// allocator.
std::size_t memory_of(std::string const& target, http::HttpResponse const& response) {
  auto bytes = node_bytes + sizeof target + sizeof response + memory_of(target);
  bytes += sizeof(std::string) + node_bytes + memory_of(response.body);  // the shared body
  for (auto const& [name, value] : response.headers)
    bytes += node_bytes + sizeof name + sizeof value + memory_of(name) + memory_of(value);
  return bytes;
}

}  // namespace

std::optional<http::HttpResponse> Cache::find(std::string const& target, std::int64_t version) {
  auto const at = answers_.find(target);
  if (version != version_ || at == answers_.end()) return std::nullopt;
  return at->second;
}

http::HttpResponse Cache::keep(std::string const& target,
                               std::int64_t version,
                               http::HttpResponse response) {
  response.body.shrink_to_fit();
  auto const size = memory_of(target, response);
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
