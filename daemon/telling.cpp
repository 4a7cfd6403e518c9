#include "daemon/telling.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

#include "daemon/net/https_transport.h"
#include "daemon/ruling.h"
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

/// A client and what it works with.
class Connection {
 public:
  /// `retries`: how often a request is repeated; with none, limits are not waited for either.
  static Result<std::unique_ptr<Connection>> open(config::GithubOptions const& options,
                                                  int retries) {
    auto token = github::find_token(options, environment_variable(options.token_env));
    if (!token) return token.error();
    if (!token->warning.empty()) spdlog::warn("token_exposed reason=\"{}\"", token->warning);
    auto transport = net::HttpsTransport::open({options.ca_file, options.timeout});
    if (!transport) return transport.error();
    github::ClientOptions client;
    client.api = options.api;
    client.repository = options.repository;
    client.token = token->value;
    client.retries = retries;
    return std::make_unique<Connection>(std::move(*transport), std::move(client));
  }

  Connection(net::HttpsTransport transport, github::ClientOptions options)
      : transport_{std::move(transport)},
        client_{transport_, clock_, sleep_for, std::move(options)} {}

  github::Client& client() { return client_; }

 private:
  net::HttpsTransport transport_;
  SystemClock clock_;
  github::Client client_;
};

asio::awaitable<Result<std::string>> file_issue(github::IssueDraft draft,
                                                config::GithubOptions const& options) {
  auto const connection = Connection::open(options, github::ClientOptions{}.retries);
  if (!connection) co_return connection.error();
  auto const issue = co_await (*connection)->client().file_once(std::move(draft));
  if (!issue) co_return issue.error();
  for (auto const& label : issue->missing_labels)
    spdlog::warn("label_dropped issue={} label=\"{}\"", issue->url, label);
  spdlog::info("issue_filed url={} existed={}", issue->url, issue->existed);
  co_return issue->url;
}

bool is_called_false(storage::Store& store, IncidentId incident) {
  auto const rulings = store.rulings().on(incident);
  return std::ranges::any_of(
      rulings, [](Ruling const& ruling) { return ruling.kind == RulingKind::false_alarm; });
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

asio::awaitable<Result<>> hear(storage::Store& store,
                               Clock const& clock,
                               config::GithubOptions const& github) {
  auto const& label = github.false_alarm_label;
  bool const nothing_told = store.incidents().all().empty();
  if (github.repository.empty() || label.empty() || nothing_told) co_return Result<>{};
  auto const connection = Connection::open(github, 0);
  if (!connection) co_return connection.error();
  auto const keys = co_await (*connection)->client().keys_labelled(label);
  if (!keys) co_return keys.error();
  for (auto const& key : *keys) {
    auto const incident = store.incidents().of_report(key);
    if (!incident || is_called_false(store, incident->id)) continue;
    Ruling ruling;
    ruling.kind = RulingKind::false_alarm;
    ruling.incident = incident->id;
    ruling.who = "GitHub";
    ruling.why = "label " + label + " on " + incident->report;
    auto const given = give_ruling(store, std::move(ruling), clock.now());
    if (!given) co_return given.error();
  }
  co_return Result<>{};
}

}  // namespace torchwatch
