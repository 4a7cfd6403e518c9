#include "daemon/async/flush_disk.h"

#include <chrono>
#include <utility>

#include "daemon/async/tool.h"

namespace torchwatch::async {
namespace asio = boost::asio;

asio::awaitable<Result<>> flush_disk_of(asio::any_io_executor executor,
                                        std::filesystem::path path) {
  constexpr std::chrono::minutes patience{30};  // as long as for what is written
  process::Command command;
  command.argv = {"sync", "--file-system", path.string()};
  auto const run = co_await run_tool(std::move(executor), std::move(command), patience);
  if (!run) co_return run.error();
  if (run->is_good()) co_return Result<>{};
  co_return Error{ErrorCode::unavailable, why_it_failed(*run)};
}

}  // namespace torchwatch::async
