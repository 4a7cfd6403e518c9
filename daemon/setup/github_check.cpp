#include <utility>

#include "daemon/report/connection.h"
#include "daemon/setup/checks.h"

namespace torchwatch::setup {
namespace {

std::string describe_access(github::Access const& access, config::GithubOptions const& options) {
  auto text = access.repository + ": answers; issues may be written, as far as can be seen";
  if (options.app.is_on()) text += ", by the GitHub App " + options.app.client_id;
  if (!options.labels.empty() && !access.may_label)
    text += "; the token may not push, so GitHub drops their labels";
  return text;
}

}  // namespace

PendingCheck check_github(CheckContext const& context) {
  auto const& options = context.options.github;
  if (options.repository.empty())
    co_return std::string{
        "nothing to do: without github.repository reports are files in state_dir/reports"};
  SystemClock const clock;
  report::Network const network{report::https_transport(options), clock};
  github::ClientOptions client;
  client.retries = 0;
  auto const connection = report::Connection::open(options, network, std::move(client));
  auto const access = co_await connection->client().access();
  if (!access) co_return access.error();
  auto obstacle = github::obstacle_to_issues(*access);
  if (!obstacle.empty()) co_return Error{ErrorCode::refused, std::move(obstacle)};
  co_return describe_access(*access, options);
}

}  // namespace torchwatch::setup
