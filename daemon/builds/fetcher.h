#pragma once

#include <functional>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "fetch/carry_out.h"
#include "fetch/companions.h"
#include "fetch/index.h"
#include "fetch/wire.h"
#include "storage/base/result.h"

namespace torchwatch::builds {

/// Downloads published files. An interface, because the other end is a server on the Internet.
class Fetcher {
 public:
  virtual ~Fetcher() = default;

  /// Does what fetch::carry_out does. Cancelling ends the fetch; the next one resumes the download.
  virtual boost::asio::awaitable<Result<fetch::Fetched>> fetch(fetch::FetchRequest request) = 0;

  /// Does what fetch::look_into does.
  virtual boost::asio::awaitable<Result<fetch::Index>> look_into(fetch::IndexRequest request) = 0;

  /// Does what fetch::find_companion does.
  virtual boost::asio::awaitable<Result<fetch::CompanionFile>> find(
      fetch::CompanionRequest request) = 0;
};

/// Runs torchwatch-fetch, one process per request, without our token in its environment. A
/// FetchReporter reports the progress. Also fails with unavailable when the program exceeds the
/// limit of the download, unpacking included, or ends without a reply.
class FetchProgram final : public Fetcher {
 public:
  /// `program`: torchwatch-fetch.
  FetchProgram(boost::asio::any_io_executor executor, std::string program)
      : executor_{std::move(executor)},
        program_{std::move(program)} {}

  boost::asio::awaitable<Result<fetch::Fetched>> fetch(fetch::FetchRequest request) override;
  boost::asio::awaitable<Result<fetch::Index>> look_into(fetch::IndexRequest request) override;
  boost::asio::awaitable<Result<fetch::CompanionFile>> find(
      fetch::CompanionRequest request) override;

 private:
  boost::asio::awaitable<Result<fetch::Message>> run(fetch::Request request,
                                                     fetch::DownloadRequest download);

  boost::asio::any_io_executor executor_;
  std::string program_;
};

}  // namespace torchwatch::builds
