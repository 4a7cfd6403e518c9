#pragma once

#include <filesystem>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch {

/// Tells the world about an incident, once: as a GitHub issue when a repository is configured, else
/// as a Markdown file under `state_dir/reports`. Returns the URL or the file's path, and
/// stores it with the incident. Safe to call again after a crash at any instant: the intent is
/// stored first, and an issue that carries its key is found, not filed again.
boost::asio::awaitable<Result<std::string>> tell(storage::Store& store,
                                                 Incident incident,
                                                 config::GithubOptions const& github,
                                                 std::filesystem::path state_dir);

/// Keeps as rulings what people said of reports by `github.false_alarm_label`, each once.
boost::asio::awaitable<Result<>> hear(storage::Store& store,
                                      Clock const& clock,
                                      config::GithubOptions const& github);

}  // namespace torchwatch
