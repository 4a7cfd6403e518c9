#pragma once

#include <filesystem>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "storage/base/result.h"

namespace torchwatch::async {

/// Waits until all data that any process wrote to the file system of `path` has reached the disk.
/// Call before the store records a build: after a power failure without it, files can have the
/// right names and no contents. Runs in a program of its own, since it may take seconds. Fails with
/// unavailable.
boost::asio::awaitable<Result<>> flush_disk_of(boost::asio::any_io_executor executor,
                                               std::filesystem::path path);

}  // namespace torchwatch::async
