#pragma once

#include <boost/asio/generic/stream_protocol.hpp>

namespace torchwatch::http {

/// A connection, over TCP or a Unix socket: once it is made, nobody needs to know which.
using Socket = boost::asio::generic::stream_protocol::socket;

}  // namespace torchwatch::http
