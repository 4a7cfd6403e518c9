#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

/// Has git bring the files of `commit` that a partial clone left at its remote. Does nothing where
/// `source.repository` is not a partial clone, or has them all. Fails with unavailable when the
/// remote does not give them now, or this host cannot start git (Error::is_of_host); with not_found
/// when there is no `source.remote` to ask: nothing is fetched then. `source` must outlive it.
boost::asio::awaitable<Result<>> bring_missing_files(boost::asio::any_io_executor executor,
                                                     config::SourceOptions const& source,
                                                     CommitSha commit);

}  // namespace torchwatch::builds
