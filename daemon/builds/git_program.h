#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "daemon/async/tool.h"
#include "storage/base/result.h"

namespace torchwatch::builds {

/// Runs git in `repository`, outside of any sandbox: with the user's settings, without a terminal,
/// with messages in English. Errors as run_tool's; a git that fails is not one.
boost::asio::awaitable<Result<async::ToolRun>> run_git(
    boost::asio::any_io_executor executor,
    std::string repository,
    std::vector<std::string> arguments,
    std::chrono::seconds limit = std::chrono::minutes{10});

/// The line in which git says why it failed: the lines after that are advice.
std::string reason_of_git(async::ToolRun const& run);

}  // namespace torchwatch::builds
