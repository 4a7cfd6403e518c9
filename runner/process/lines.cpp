#include "runner/process/lines.h"

#include <cstddef>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "runner/protocol.h"

namespace torchwatch::process {

namespace asio = boost::asio;

namespace {

constexpr auto as_values = asio::as_tuple(asio::use_awaitable);

Error failure_of(std::string const& doing, boost::system::error_code const& error) {
  if (error == asio::error::operation_aborted)
    return Error{ErrorCode::cancelled, doing + ": cancelled"};
  if (error == asio::error::not_found) {
    return Error{ErrorCode::corrupt,
                 doing + ": longer than " + std::to_string(protocol::max_line_bytes) + " bytes"};
  }
  return Error{ErrorCode::unavailable, doing + ": " + error.message()};
}

}  // namespace

asio::awaitable<Result<std::string>> LineReader::read_line() {
  auto lines = asio::dynamic_buffer(buffer_, protocol::max_line_bytes + 1);
  auto const [error, size] = co_await asio::async_read_until(input_, lines, '\n', as_values);
  if (error) co_return failure_of("read a line", error);
  std::string line = buffer_.substr(0, size - 1);
  lines.consume(size);
  co_return line;
}

asio::awaitable<Result<std::string>> LineReader::read_block() {
  constexpr std::size_t longest = std::size_t{64} << 10;
  auto block = std::exchange(buffer_, {});
  if (!block.empty()) co_return block;
  block.resize(longest);
  auto const bytes = asio::buffer(block);
  auto const [error, size] = co_await input_.async_read_some(bytes, as_values);
  if (error) co_return failure_of("read", error);
  block.resize(size);
  co_return block;
}

asio::awaitable<Result<>> write_line(asio::posix::stream_descriptor& output, std::string line) {
  line += '\n';
  auto const bytes = asio::buffer(line);
  auto const [error, size] = co_await asio::async_write(output, bytes, as_values);
  if (error) co_return failure_of("write a line", error);
  co_return Result<>{};
}

}  // namespace torchwatch::process
