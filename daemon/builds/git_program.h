#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "daemon/async/tool.h"
#include "storage/base/result.h"

namespace torchwatch::builds {

/// Runs git in `repository`, outside of any sandbox, with the user's settings, without a terminal
/// and with messages in English. Fails as run_tool does; a git that ends with an error is not a
/// failure.
boost::asio::awaitable<Result<async::ToolRun>> run_git(
    boost::asio::any_io_executor executor,
    std::string repository,
    std::vector<std::string> arguments,
    std::chrono::seconds limit = std::chrono::minutes{10});

/// Returns git's line with the reason of a failure. The lines after it are advice.
std::string reason_of_git(async::ToolRun const& run);

}  // namespace torchwatch::builds
