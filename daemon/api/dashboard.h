#pragma once

#include "daemon/api/handlers.h"

/// What a browser shows. The frames of pages and the files hold nothing that was measured, so they
/// are for everybody; what is in the pages, scripts ask the API for. No page loads anything from
/// elsewhere, and none runs a script that does not lie in the program (Content-Security-Policy).
namespace torchwatch::api {

/// A page that scripts fill.
http::HttpResponse show_page(View const& view, Call const& call);

/// The same with the incidents in it, for whoever may read.
http::HttpResponse show_incidents_page(View const& view, Call const& call);

/// The same with the report on the incident.
http::HttpResponse show_incident_page(View const& view, Call const& call);

/// A file that pages are made of.
http::HttpResponse show_asset(View const& view, Call const& call);

}  // namespace torchwatch::api
