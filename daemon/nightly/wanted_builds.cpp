#include "daemon/nightly/wanted_builds.h"

#include <utility>

#include <spdlog/spdlog.h>

namespace torchwatch::nightly {
namespace asio = boost::asio;

asio::awaitable<std::vector<KeptBuild>> WantedBuilds::bring() {
  std::vector<KeptBuild> came;
  for (auto& wanted : store_.kept_builds().wanted()) {
    auto build = co_await bring(std::move(wanted));
    if (build) came.push_back(std::move(*build));
  }
  co_return came;
}

asio::awaitable<std::optional<KeptBuild>> WantedBuilds::bring(WantedBuild wanted) {
  auto const nightly = store_.nightlies().find(wanted.nightly).value();
  auto const attempt = co_await preparation_.restore(nightly);
  bool const is_there = attempt && attempt->build;
  bool const may_come = !attempt && attempt.error().code == ErrorCode::unavailable;
  if (!is_there) {
    if (!may_come) store_.kept_builds().want_no_more(wanted.nightly);
    spdlog::warn("wanted_build_missing date={} tried_again={} reason=\"{}\"",
                 nightly.date,
                 may_come,
                 attempt ? attempt->note : attempt.error().message);
    co_return std::nullopt;
  }
  auto const name = builds_.name_of(attempt->build->prefix);
  auto const pinned = builds_.pin(name, std::move(wanted.pin));
  store_.kept_builds().want_no_more(wanted.nightly);  // last: a killed request is repeated
  if (pinned) co_return *pinned;
  spdlog::warn("build_not_pinned reason=\"{}\"", pinned.error().message);
  co_return std::nullopt;
}

}  // namespace torchwatch::nightly
