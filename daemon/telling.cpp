#include "daemon/telling.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

#include "daemon/net/https_transport.h"
#include "github/client.h"
#include "github/credentials.h"
#include "github/issue.h"

namespace torchwatch {
namespace asio = boost::asio;

namespace {

asio::awaitable<void> sleep_for(std::chrono::seconds duration) {
  asio::steady_timer timer{co_await asio::this_coro::executor, duration};
  co_await timer.async_wait(asio::use_awaitable);
}

std::optional<std::string> environment_variable(std::string const& name) {
  auto const* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): never set
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

asio::awaitable<Result<std::string>> file_issue(github::IssueDraft draft,
                                                config::GithubOptions const& options) {
  auto token = github::find_token(options, environment_variable(options.token_env));
  if (!token) co_return token.error();
  if (!token->warning.empty()) spdlog::warn("token_exposed reason=\"{}\"", token->warning);
  auto transport = net::HttpsTransport::open({options.ca_file, options.timeout});
  if (!transport) co_return transport.error();
  github::ClientOptions client_options;
  client_options.api = options.api;
  client_options.repository = options.repository;
  client_options.token = token->value;
  SystemClock const clock;
  github::Client client{*transport, clock, sleep_for, std::move(client_options)};
  auto const issue = co_await client.file_once(std::move(draft));
  if (!issue) co_return issue.error();
  for (auto const& label : issue->missing_labels)
    spdlog::warn("label_dropped issue={} label=\"{}\"", issue->url, label);
  spdlog::info("issue_filed url={} existed={}", issue->url, issue->existed);
  co_return issue->url;
}

/// Written beside and renamed, so that a report is whole or not there.
Result<std::string> write_report(github::IssueDraft const& draft,
                                 IncidentId incident,
                                 std::filesystem::path const& directory) {
  auto const place = directory / ("incident-" + std::to_string(incident.value) + ".md");
  auto partial = place;
  partial += ".partial";
  std::filesystem::create_directories(directory);
  std::ofstream file{partial, std::ios::trunc};
  file << "# " << draft.title << "\n\n" << draft.body;
  file.close();
  std::error_code problem;
  if (file) std::filesystem::rename(partial, place, problem);
  if (!file || problem)
    return Error{ErrorCode::internal, "write report " + place.string() + ": " + problem.message()};
  spdlog::info("report_written path={}", place.string());
  return place.string();
}

}  // namespace

asio::awaitable<Result<std::string>> tell(storage::Store& store,
                                          Incident incident,
                                          config::GithubOptions const& github,
                                          std::filesystem::path state_dir) {
  if (!incident.report.empty()) co_return incident.report;
  auto const story = storage::story_of(store, incident);
  github::ReportContext context;
  context.labels = github.labels;
  auto draft = github::draft_issue(story, context);
  store.incidents().intend_report(incident.id, draft.key);
  if (github.repository.empty()) {
    auto const written = write_report(draft, incident.id, state_dir / "reports");
    if (written) store.incidents().reported(incident.id, *written);
    co_return written;
  }
  auto const filed = co_await file_issue(std::move(draft), github);
  if (filed) store.incidents().reported(incident.id, *filed);
  co_return filed;
}

}  // namespace torchwatch
