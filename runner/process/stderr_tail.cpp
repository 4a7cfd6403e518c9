#include "runner/process/stderr_tail.h"

#include <array>
#include <cerrno>
#include <utility>

#include <unistd.h>

namespace torchwatch::process {

using boost::asio::posix::stream_descriptor;

void StderrTail::start() {
  if (!input_.is_open()) return;
  input_.native_non_blocking(true);
  wait_for_more();
}

void StderrTail::stop() {
  boost::system::error_code ignored;
  input_.close(ignored);
}

std::string StderrTail::text() {
  // More than a pipe can contain. A bound is needed, because the writer may be faster.
  constexpr int reads = 32;
  for (int i = 0; i < reads && input_.is_open() && read_some() == Read::some; ++i)
    continue;
  return tail_;
}

StderrTail::Read StderrTail::read_some() {
  std::array<char, 65536> bytes{};
  auto const size = ::read(input_.native_handle(), bytes.data(), bytes.size());
  if (size < 0) return errno == EAGAIN || errno == EINTR ? Read::nothing_yet : Read::ended;
  if (size == 0) return Read::ended;
  tail_.append(bytes.data(), static_cast<std::size_t>(size));
  if (tail_.size() > capacity) tail_.erase(0, tail_.size() - capacity);
  return Read::some;
}

void StderrTail::wait_for_more() {
  auto on_readable = [self = shared_from_this()](boost::system::error_code const& error) {
    if (!error && self->read_some() != Read::ended) self->wait_for_more();
  };
  input_.async_wait(stream_descriptor::wait_read, std::move(on_readable));
}

}  // namespace torchwatch::process
