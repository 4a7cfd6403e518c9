#pragma once

#include "daemon/http/http_message.h"

namespace torchwatch::api {

/// Adds the ETag of the contents to a response.
void set_tag(http::HttpResponse& response);

/// Adds an ETag to a response with status 200, if it has none. If the client already has these
/// contents (If-None-Match), makes it an empty 304 (RFC 9110, 8.8.3 and 13.1.2). The tag is weak:
/// equal tags mean the same contents, not always the same bytes.
void tag(http::HttpRequest const& request, http::HttpResponse& response);

}  // namespace torchwatch::api
