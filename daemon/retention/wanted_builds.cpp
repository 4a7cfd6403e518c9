#include "daemon/retention/wanted_builds.h"

#include <utility>

#include <spdlog/spdlog.h>

namespace torchwatch::retention {
namespace asio = boost::asio;

asio::awaitable<void> WantedBuilds::bring() {
  for (auto& wanted : store_.kept_builds().wanted())
    co_await bring(std::move(wanted));
}

asio::awaitable<void> WantedBuilds::bring(WantedBuild wanted) {
  auto const nightly = store_.nightlies().find(wanted.nightly).value();
  auto const attempt = co_await preparation_.restore(nightly);
  bool const is_there = attempt && attempt->build;
  bool const may_come = !attempt && attempt.error().code == ErrorCode::unavailable;
  if (!is_there)
    spdlog::warn("wanted_build_missing date={} tried_again={} reason=\"{}\"",
                 nightly.date,
                 may_come,
                 attempt ? attempt->note : attempt.error().message);
  if (!may_come) store_.kept_builds().want_no_more(wanted.nightly);
  if (!is_there) co_return;
  auto const pinned = builds_.pin(builds_.name_of(attempt->build->prefix), std::move(wanted.pin));
  if (!pinned) spdlog::warn("build_not_pinned reason=\"{}\"", pinned.error().message);
}

}  // namespace torchwatch::retention
