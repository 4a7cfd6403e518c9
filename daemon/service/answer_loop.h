#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/service/parts.h"

namespace torchwatch::service {

/// Answers people and sends the messages that are due, every minute. Never returns; cancellation
/// ends it. A failure is logged, and repeated a minute later. `parts` must outlive it.
boost::asio::awaitable<int> answer_for_ever(ServiceParts& parts);

}  // namespace torchwatch::service
