#include "daemon/report/publisher.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include "github/comment.h"
#include "github/issue.h"
#include "storage/base/small_file.h"
#include "storage/domain/project.h"

namespace torchwatch::report {
namespace asio = boost::asio;

namespace {

/// The retries of a request. Other nightlies wait for it, and the next pass files a missing issue.
constexpr int retries = 2;

/// Returns the bisections that an issue contains. An issue that was filed before a crash lacks
/// those that ended later.
std::vector<Bisection> reported_in(std::string const& body,
                                   std::string const& key,
                                   std::vector<Bisection> bisections) {
  std::erase_if(bisections, [&](Bisection const& bisection) {
    return body.find(github::marker_of(key, bisection)) == std::string::npos;
  });
  return bisections;
}

github::IssueDraft draft_of(IncidentStory const& story, config::GithubOptions const& options) {
  github::ReportContext context;
  context.labels = options.labels;
  if (!options.repository.empty()) context.false_alarm_label = options.false_alarm_label;
  return github::draft_issue(story, context);
}

/// True when the address of a report is an issue, not a file.
bool is_issue(std::string const& report) {
  return report.starts_with("https://");
}

/// Writes a report atomically.
Result<std::string> write_report(github::IssueDraft const& draft,
                                 IncidentId incident,
                                 std::filesystem::path const& directory) {
  auto const place = directory / ("incident-" + std::to_string(incident.value) + ".md");
  std::error_code ignored;  // the write reports the problem
  std::filesystem::create_directories(directory, ignored);
  auto const written = write_small_file(place, "# " + draft.title + "\n\n" + draft.body);
  if (!written) return Error{ErrorCode::internal, "write report " + written.error().message};
  spdlog::info("report_written path={}", place.string());
  return place.string();
}

}  // namespace

asio::awaitable<Result<std::string>> Publisher::publish(Incident incident) {
  if (!incident.report.empty()) co_return incident.report;
  auto const story = storage::story_of(store_, incident);
  if (options_.repository.empty()) co_return write(story);
  auto draft = draft_of(story, options_);
  auto const key = draft.key;
  store_.incidents().intend_report(incident.id, key);
  auto const filed = co_await file(incident.id, std::move(draft));
  if (!filed) co_return filed.error();
  check_labels(*filed);
  store_.incidents().reported(
      incident.id, filed->url, reported_in(filed->body, key, story.bisections));
  auto const correction = github::marker_of_correction(key, incident.correction);
  if (filed->body.find(correction) != std::string::npos)
    store_.incidents().mark_corrected(incident.id);
  co_return filed->url;
}

/// Files an issue. Stores that it was sent before sending it, and after GitHub rejected it.
asio::awaitable<Result<github::CreatedIssue>> Publisher::file(IncidentId incident,
                                                              github::IssueDraft draft) {
  auto const connection = Connection::open(options_, network_, options_with_pause(store_, retries));
  if (!connection) co_return connection.error();
  github::SentCreate sent;
  sent.at = store_.incidents().report_sent_at(incident);
  sent.store = [this, incident](std::optional<Timestamp> at) {
    store_.incidents().keep_report_sent(incident, at);
  };
  auto const issue = co_await (*connection)->client().file_once(std::move(draft), std::move(sent));
  if (issue) spdlog::info("issue_filed url={} existed={}", issue->url, issue->existed);
  co_return issue;
}

void Publisher::check_labels(github::CreatedIssue const& issue) {
  auto const now = network_.clock.now();
  std::string missing;
  for (auto const& label : issue.missing_labels) {
    spdlog::warn("label_dropped issue={} label=\"{}\"", issue.url, label);
    missing += (missing.empty() ? "\"" : ", \"") + label + "\"";
  }
  auto const kind = AlarmKind::label_dropped;
  auto const detail = issue.url + " lacks " + missing +
                      ": GitHub drops labels of a token that may not push to " +
                      options_.repository + "; let it push, or empty github.labels";
  if (missing.empty()) {
    if (store_.alarms().clear(kind, "", now))
      spdlog::info("alarm_cleared kind={} subject=\"\"", to_string(kind));
  } else if (store_.alarms().raise(kind, "", detail, now)) {
    spdlog::warn("alarm_raised kind={} subject=\"\" detail=\"{}\"", to_string(kind), detail);
  }
}

asio::awaitable<Result<>> Publisher::publish_update(Bisection bisection) {
  auto const incident = store_.incidents().find(bisection.incident.value()).value();
  auto story = storage::story_of(store_, incident);
  if (is_issue(incident.report)) co_return co_await comment(std::move(story), std::move(bisection));
  auto const written = write(story);
  if (!written) co_return written.error();
  co_return Result<>{};
}

Result<std::string> Publisher::write(IncidentStory const& story) {
  auto const draft = draft_of(story, options_);
  store_.incidents().intend_report(story.incident.id, draft.key);
  auto written = write_report(draft, story.incident.id, state_dir_ / "reports");
  if (!written) return written;
  store_.incidents().reported(story.incident.id, *written, story.bisections);
  store_.incidents().mark_corrected(story.incident.id);
  return written;
}

asio::awaitable<Result<>> Publisher::publish_correction(Incident incident) {
  auto story = storage::story_of(store_, incident);
  if (is_issue(incident.report)) co_return co_await comment_correction(std::move(story));
  auto const written = write(story);
  if (!written) co_return written.error();
  co_return Result<>{};
}

asio::awaitable<Result<>> Publisher::comment_correction(IncidentStory story) {
  if (options_.repository.empty()) co_return Result<>{};
  auto const connection = Connection::open(options_, network_, options_with_pause(store_, retries));
  if (!connection) co_return connection.error();
  auto draft = github::draft_correction(story);
  auto const& issue = story.incident.report;
  auto const written = co_await (*connection)->client().comment_once(issue, std::move(draft));
  if (!written) co_return written.error();
  spdlog::info("correction_written issue={} url={}", issue, written->value_or("none"));
  store_.incidents().mark_corrected(story.incident.id);
  co_return Result<>{};
}

asio::awaitable<Result<>> Publisher::comment(IncidentStory story, Bisection bisection) {
  if (options_.repository.empty()) co_return Result<>{};
  auto const connection = Connection::open(options_, network_, options_with_pause(store_, retries));
  if (!connection) co_return connection.error();
  auto draft = github::draft_comment(story, bisection, project_url);
  auto const& issue = story.incident.report;
  auto const written = co_await (*connection)->client().comment_once(issue, std::move(draft));
  if (!written) co_return written.error();
  if (*written)
    spdlog::info("comment_written url={} bisection={}", **written, bisection.id.value);
  else
    spdlog::warn(
        "comment_not_written issue={} bisection={} reason=\"its issue is gone, locked, or "
        "another\"",
        issue,
        bisection.id.value);
  store_.bisections().mark_reported(bisection.id);
  co_return Result<>{};
}

}  // namespace torchwatch::report
