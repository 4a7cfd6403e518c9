#pragma once

#include <boost/asio/generic/stream_protocol.hpp>

namespace torchwatch::http {

/// A connection over TCP or a Unix socket.
using Socket = boost::asio::generic::stream_protocol::socket;

}  // namespace torchwatch::http
