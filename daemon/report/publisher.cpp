#include "daemon/report/publisher.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include "github/issue.h"
#include "storage/domain/small_file.h"

namespace torchwatch::report {
namespace asio = boost::asio;

namespace {

/// Nights wait to be judged meanwhile, and an issue that could not be filed is filed by the next
/// pass.
constexpr int retries = 2;

asio::awaitable<Result<std::string>> file_issue(github::IssueDraft draft,
                                                config::GithubOptions const& options,
                                                OpenTransport const& open_transport) {
  auto const connection = Connection::open(options, open_transport, retries);
  if (!connection) co_return connection.error();
  auto const issue = co_await (*connection)->client().file_once(std::move(draft));
  if (!issue) co_return issue.error();
  for (auto const& label : issue->missing_labels)
    spdlog::warn("label_dropped issue={} label=\"{}\"", issue->url, label);
  spdlog::info("issue_filed url={} existed={}", issue->url, issue->existed);
  co_return issue->url;
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
  github::ReportContext context;
  context.labels = options_.labels;
  auto draft = github::draft_issue(story, context);
  store_.incidents().intend_report(incident.id, draft.key);
  if (options_.repository.empty()) {
    auto const written = write_report(draft, incident.id, state_dir_ / "reports");
    if (written) store_.incidents().reported(incident.id, *written);
    co_return written;
  }
  auto const filed = co_await file_issue(std::move(draft), options_, open_transport_);
  if (filed) store_.incidents().reported(incident.id, *filed);
  co_return filed;
}

}  // namespace torchwatch::report
