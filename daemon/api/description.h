#pragma once

#include "daemon/api/reading.h"

namespace torchwatch::api {

/// What this API takes and answers, for programs: openapi.json (OpenAPI 3.1), as it was when this
/// program was built. It holds nothing that was measured, so it is for everybody.
net::HttpResponse show_description(View const& view, Call const& call);

}  // namespace torchwatch::api
