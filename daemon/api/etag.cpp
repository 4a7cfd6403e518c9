#include "daemon/api/etag.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "storage/domain/digest.h"

namespace torchwatch::api {
namespace {

/// Whether one of the tags in "W/\"a\", \"b\"" is `tag`, weakly compared; "*" is any.
bool names(std::string_view list, std::string_view tag) {
  if (list == "*") return true;
  return list.find(tag) != std::string_view::npos;
}

}  // namespace

void tag(net::HttpRequest const& request, net::HttpResponse& response) {
  if (response.status != 200) return;
  constexpr std::size_t digits = 32;
  Sha256 digest;
  digest.add(response.body);
  auto const tag = '"' + digest.hex().substr(0, digits) + '"';
  response.headers["etag"] = "W/" + tag;
  response.headers["cache-control"] = "no-cache";
  auto const known = request.headers.find("if-none-match");
  if (known == request.headers.end() || !names(known->second, tag)) return;
  response.status = 304;
  response.body.clear();
  response.headers.erase("content-type");
}

}  // namespace torchwatch::api
