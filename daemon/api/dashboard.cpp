#include "daemon/api/dashboard.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "daemon/web/assets.h"
#include "daemon/web/page.h"
#include "github/issue.h"
#include "github/life_story.h"
#include "storage/base/number.h"
#include "storage/domain/words.h"

namespace torchwatch::api {
namespace {

using http::HttpResponse;

std::string_view title_of(std::string_view path) {
  using Pair = std::pair<std::string_view, std::string_view>;
  constexpr std::array titles{
      Pair{"/", "Tonight"},
      Pair{"/nightlies", "Nightlies"},
      Pair{"/nightlies/{id}", "Nightly"},
      Pair{"/series", "Series"},
      Pair{"/incidents", "Incidents"},
      Pair{"/bisections", "Bisections"},
      Pair{"/bisections/{id}", "Bisection"},
      Pair{"/compare", "Compare"},
      Pair{"/trust", "Trust"},
      Pair{"/alarms", "Alarms"},
  };
  auto const* const at = std::ranges::find(titles, path, &Pair::first);
  return at == titles.end() ? "" : at->second;
}

/// The policy of pages and of files, since a worker uses the policy of its own file. Browsers
/// without worker-src use script-src.
constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

HttpResponse html(int status, std::string_view title, std::string_view content) {
  HttpResponse response;
  response.status = status;
  response.headers["content-type"] = web::media_type(".html");
  response.headers["content-security-policy"] = content_policy;
  response.headers["referrer-policy"] = "no-referrer";
  response.headers["cross-origin-opener-policy"] = "same-origin";
  response.headers["cache-control"] = "no-cache";
  response.body = web::document({title, content});
  return response;
}

/// "2026-11-24: test_eval[dlrm-cpu-eager] is 12% slower (and 2 more series), fix expected".
std::string in_brief(View const& view, Incident const& incident) {
  auto const nightly = view.store.nightlies().find(incident.nightly).value();
  std::string state{to_string(incident.state)};
  std::ranges::replace(state, '_', ' ');
  return nightly.date + ": " + words::headline(worst_first(incident.changes)) + ", " + state;
}

std::string list_of_incidents(View const& view) {
  std::string items;
  for (auto const& incident : view.store.incidents().all())
    items += fmt::format("<li><a href=\"/incidents/{}\">{}</a></li>\n",
                         incident.id.value,
                         web::escaped(in_brief(view, incident)));
  if (items.empty()) return "<p>No nightly has regressed yet.</p>";
  return "<ul>\n" + items + "</ul>";
}

std::string report_on(View const& view, Incident const& incident) {
  auto const story = storage::story_of(view.store, incident);
  auto const draft = github::draft_issue(story, {{}, view.project});
  auto const body = draft.body + github::history_story(story, view.project);
  return "<article class=\"report\"><h1>" + web::escaped(draft.title) + "</h1>\n" +
         web::html_of(body) + "</article>";
}

/// Returns the page for clients that may not read.
HttpResponse closed(std::string_view title) {
  return html(200, title, web::without_scripts());
}

}  // namespace

HttpResponse show_page(View const&, Call const& call) {
  return html(200, title_of(call.path), web::without_scripts());
}

HttpResponse show_incidents_page(View const& view, Call const& call) {
  if (!call.may_read) return closed("Incidents");
  return html(200, "Incidents", "<h1>Incidents</h1>\n" + list_of_incidents(view));
}

HttpResponse show_incident_page(View const& view, Call const& call) {
  if (!call.may_read) return closed("Incident");
  auto const number = parse_number<std::int64_t>(call.id);
  auto const incident =
      number ? view.store.incidents().find(IncidentId{*number}) : std::optional<Incident>{};
  if (!incident)
    return html(404,
                "Incident",
                "<h1>Incident not found</h1>\n<p><a href=\"/incidents\">All incidents</a></p>");
  return html(200, "Incident " + call.id, report_on(view, *incident));
}

HttpResponse show_asset(View const&, Call const& call) {
  auto const* const asset = web::find_asset(call.id);
  if (asset == nullptr)
    return http::problem(404, "file \"" + call.id + "\": not found in the dashboard");
  HttpResponse response;
  response.headers["content-type"] = web::media_type(asset->name);
  response.headers["content-security-policy"] = content_policy;
  response.headers["cache-control"] = "no-cache";
  response.body = asset->contents;
  return response;
}

}  // namespace torchwatch::api
