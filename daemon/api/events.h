#pragma once

#include "daemon/api/reading.h"

namespace torchwatch::api {

/// An answer without an end, as server-sent events (WHATWG HTML, 9.2): "hello" at once, and
/// "changed" within a second of a write to the store, or when the service falls ill or recovers.
/// Data of both is {"healthy"}. Whoever listens asks again for what it shows, with If-None-Match:
/// an event that is lost costs no more than the time to the next. A comment every fifteen seconds
/// shows that the line is open.
net::HttpResponse stream_events(View const& view, Call const& call);

}  // namespace torchwatch::api
