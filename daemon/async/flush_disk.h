#pragma once

#include <filesystem>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "storage/base/result.h"

namespace torchwatch::async {

/// Waits until all that was written to the file system of `path`, by whomever, has reached the
/// disk: before the store is told that a build is there. What a power cut can leave behind without
/// it has the right names and no contents. In a program of its own, since it may take seconds.
/// Fails with unavailable.
boost::asio::awaitable<Result<>> flush_disk_of(boost::asio::any_io_executor executor,
                                               std::filesystem::path path);

}  // namespace torchwatch::async
