#pragma once

#include "daemon/api/handlers.h"

/// The dashboard for browsers. Empty pages and files contain no measurements, so they need no
/// token. Scripts fill the pages with responses of the API. A page loads nothing from other sites,
/// and runs only scripts that are built into the program (Content-Security-Policy).
namespace torchwatch::api {

/// Returns an empty page, which scripts fill.
http::HttpResponse show_page(View const& view, Call const& call);

/// Returns the page of incidents. It lists them if the client may read.
http::HttpResponse show_incidents_page(View const& view, Call const& call);

/// Returns the page of an incident. It contains the report if the client may read.
http::HttpResponse show_incident_page(View const& view, Call const& call);

/// Returns a file that pages load, such as a script.
http::HttpResponse show_asset(View const& view, Call const& call);

}  // namespace torchwatch::api
