#include "daemon/api/etag.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "storage/base/digest.h"

namespace torchwatch::api {
namespace {

constexpr std::string_view weak = "W/";

/// True if one of the tags in `list`, such as W/"a", "b", is `tag`, weakly compared. "*" is any.
bool names(std::string_view list, std::string_view tag) {
  if (list == "*") return true;
  return list.find(tag) != std::string_view::npos;
}

}  // namespace

void set_tag(http::HttpResponse& response) {
  constexpr std::size_t digits = 32;
  Sha256 digest;
  digest.add(response.text());
  response.headers["etag"] = std::string{weak} + '"' + digest.hex().substr(0, digits) + '"';
  response.headers["cache-control"] = "no-cache";
}

void tag(http::HttpRequest const& request, http::HttpResponse& response) {
  if (response.status != 200) return;
  if (!response.headers.contains("etag")) set_tag(response);
  auto const known = request.headers.find("if-none-match");
  auto const tag = response.headers["etag"].substr(weak.size());
  if (known == request.headers.end() || !names(known->second, tag)) return;
  response.status = 304;
  response.body.clear();
  response.shared_body.reset();
  response.headers.erase("content-type");
}

}  // namespace torchwatch::api
