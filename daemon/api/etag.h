#pragma once

#include "daemon/http/http_message.h"

namespace torchwatch::api {

/// Gives an answer the tag of its contents.
void set_tag(http::HttpResponse& response);

/// Gives a good answer the tag of its contents, if it has none, and empties it (304) when the
/// client that asked says that it has these (RFC 9110, 8.8.3 and 13.1.2). The tag is a weak one:
/// what is inside says the same, byte for byte or not.
void tag(http::HttpRequest const& request, http::HttpResponse& response);

}  // namespace torchwatch::api
