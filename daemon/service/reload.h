#pragma once

#include <functional>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "config/options.h"
#include "daemon/http/listener.h"
#include "daemon/http/server_tls.h"
#include "daemon/service/answering.h"
#include "storage/base/result.h"

namespace torchwatch::service {

/// The configuration file of the service, read again on SIGHUP.
struct ConfigurationFile {
  std::string path;  ///< for the log
  /// Reads and checks the file. Fails with all errors, a line each.
  std::function<Result<config::Options>()> load;
  /// Called with options that are used from now on.
  std::function<void(config::Options const&)> on_use;
};

/// A checked configuration, with all that it names and that can be invalid.
struct CheckedConfiguration {
  config::Options options;
  Tokens tokens;
  std::optional<http::ServerTls> tls;
  std::optional<http::Listener> listener;  ///< nothing: the address is that of the one before
};

/// True when both listen at one address and port.
bool is_same_address(config::HttpOptions const& one, config::HttpOptions const& other);

/// Reads the tokens and the certificate that `options` name, and listens at their address, on
/// `executor`. Warns of secrets that every user can read. Fails with one line.
Result<CheckedConfiguration> check_configuration(config::Options options,
                                                 boost::asio::any_io_executor const& executor);

/// Does the same with options that replace `current`. Listens only if the address changed. Also
/// fails when a key changed that needs a restart: `state_dir` or `proxy`.
Result<CheckedConfiguration> check_changed_configuration(
    config::Options options,
    config::Options const& current,
    boost::asio::any_io_executor const& executor);

}  // namespace torchwatch::service
