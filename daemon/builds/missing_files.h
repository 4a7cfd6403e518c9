#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

/// Fetches the files of `commit` that a partial clone left at its remote, with git. Does nothing
/// when `source.repository` is not a partial clone or has them all. `source` must outlive it.
///
/// unavailable: the remote does not send them now, or this host cannot start git
/// (Error::is_of_host). not_found: there is no `source.remote`.
boost::asio::awaitable<Result<>> bring_missing_files(boost::asio::any_io_executor executor,
                                                     config::SourceOptions const& source,
                                                     CommitSha commit);

}  // namespace torchwatch::builds
