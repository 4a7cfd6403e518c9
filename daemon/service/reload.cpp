#include "daemon/service/reload.h"

#include <string>
#include <utility>

#include "daemon/service/endpoints.h"

namespace torchwatch::service {
namespace {

/// Fails when a key changed that is used before the service begins.
Result<> check_restart(config::Options const& current, config::Options const& next) {
  auto const needs_restart = [](std::string const& key) {
    return Error{ErrorCode::refused, key + " changed: restart the service to use it"};
  };
  if (current.state_dir != next.state_dir) return needs_restart("state_dir");
  bool const has_another_proxy =
      current.proxy.url != next.proxy.url || current.proxy.except != next.proxy.except;
  // Variables of the environment cannot be changed while threads run.
  if (has_another_proxy) return needs_restart("proxy");
  return {};
}

/// Returns the configuration without a listener.
Result<CheckedConfiguration> check_files(config::Options options) {
  auto tokens = read_tokens(options.http);
  if (!tokens) return tokens.error();
  auto tls = open_tls(options.http);
  if (!tls) return tls.error();
  warn_of_exposed_key(options.http);
  return CheckedConfiguration{
      std::move(options), std::move(*tokens), std::move(*tls), std::nullopt};
}

}  // namespace

bool is_same_address(config::HttpOptions const& one, config::HttpOptions const& other) {
  return one.address == other.address && one.port == other.port;
}

Result<CheckedConfiguration> check_configuration(config::Options options,
                                                 boost::asio::any_io_executor const& executor) {
  auto checked = check_files(std::move(options));
  if (!checked) return checked;
  auto listener = open_listener(executor, checked->options.http);
  if (!listener) return listener.error();
  checked->listener.emplace(std::move(*listener));
  return checked;
}

Result<CheckedConfiguration> check_changed_configuration(
    config::Options options,
    config::Options const& current,
    boost::asio::any_io_executor const& executor) {
  auto const possible = check_restart(current, options);
  if (!possible) return possible.error();
  if (!is_same_address(current.http, options.http))
    return check_configuration(std::move(options), executor);
  return check_files(std::move(options));
}

}  // namespace torchwatch::service
