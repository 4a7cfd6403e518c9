#include "daemon/report/publisher.h"

#include <filesystem>
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

/// Nights wait to be judged meanwhile, and an issue that could not be filed is filed by the next
/// pass.
constexpr int retries = 2;

asio::awaitable<Result<github::CreatedIssue>> file_issue(github::IssueDraft draft,
                                                         config::GithubOptions const& options,
                                                         OpenTransport const& open_transport) {
  auto const connection = Connection::open(options, open_transport, retries);
  if (!connection) co_return connection.error();
  auto const issue = co_await (*connection)->client().file_once(std::move(draft));
  if (!issue) co_return issue.error();
  for (auto const& label : issue->missing_labels)
    spdlog::warn("label_dropped issue={} label=\"{}\"", issue->url, label);
  spdlog::info("issue_filed url={} existed={}", issue->url, issue->existed);
  co_return issue;
}

/// Those that an issue tells of. One that was filed before a crash knows nothing of what ended
/// since.
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
  return github::draft_issue(story, context);
}

/// Whether a report is an issue, by its address, and no file.
bool is_issue(std::string const& report) {
  return report.starts_with("https://");
}

/// A report is whole or not there.
Result<std::string> write_report(github::IssueDraft const& draft,
                                 IncidentId incident,
                                 std::filesystem::path const& directory) {
  auto const place = directory / ("incident-" + std::to_string(incident.value) + ".md");
  std::error_code ignored;  // the write says what is wrong with it
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
  auto const filed = co_await file_issue(std::move(draft), options_, open_transport_);
  if (!filed) co_return filed.error();
  store_.incidents().reported(
      incident.id, filed->url, reported_in(filed->body, key, story.bisections));
  co_return filed->url;
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
  if (written) store_.incidents().reported(story.incident.id, *written, story.bisections);
  return written;
}

asio::awaitable<Result<>> Publisher::comment(IncidentStory story, Bisection bisection) {
  if (options_.repository.empty()) co_return Result<>{};
  auto const connection = Connection::open(options_, open_transport_, retries);
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
