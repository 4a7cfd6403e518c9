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

/// Brings what strangers publish. An interface, because the other end is the world.
class Fetcher {
 public:
  virtual ~Fetcher() = default;

  /// As fetch::carry_out. Cancelling this ends it; what was downloaded by then is gone on from
  /// another time.
  virtual boost::asio::awaitable<Result<fetch::Fetched>> fetch(fetch::FetchRequest request) = 0;

  /// As fetch::look_into.
  virtual boost::asio::awaitable<Result<fetch::Index>> look_into(fetch::IndexRequest request) = 0;

  /// As fetch::find_companion.
  virtual boost::asio::awaitable<Result<fetch::CompanionFile>> find(
      fetch::CompanionRequest request) = 0;
};

/// Has torchwatch-fetch do it, a process each, without our token in its environment. A
/// FetchReporter reports the progress. Fails also with unavailable, when the program takes longer
/// than the download's limit, unpacking included, or ends without an answer.
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
