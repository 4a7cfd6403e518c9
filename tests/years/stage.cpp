#include "tests/years/stage.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

namespace torchwatch::years {
namespace {

using namespace std::chrono_literals;

constexpr auto a_round = 45s;
constexpr auto a_build = 20min;

constexpr std::int64_t bytes_of_build = std::int64_t{1200} << 20U;

config::FleetOptions fleet_of(std::string name, Device device) {
  config::FleetOptions fleet;
  fleet.name = std::move(name);
  fleet.device = device;
  return fleet;
}

void set_up(config::Options& options, Suite const& suite) {
  options.feed.kind = config::FeedKind::libtorch;
  options.feed.path.clear();
  options.fleets = {fleet_of("cpu", Device::cpu), fleet_of("gpu", Device::cuda)};
  options.suite.models = suite.measured();
  options.suite.tests = {Test::train, Test::eval};
  options.decide.aa_benchmarks = 1;
  options.decide.anchor_nights = 30;
}

}  // namespace

void Agenda::run(DaysAgo ago) {
  auto const found = days_.find(ago);
  if (found == days_.end()) return;
  for (auto const& action : found->second)
    action();
}

Stage::Stage(Request of)
    : request{std::move(of)},
      suite{request.seed},
      script{request},
      texts{request.is_hostile},
      landing{request},
      processes{request},
      world{1} {
  set_up(world.options, suite);
  world.restart();
  auto& rounds = world.parts->rounds;
  auto& builder = world.parts->builder;
  processes.attach_to(rounds);
  rounds.before = [this](measure::RoundKey const& key) {
    before_round(key);
  };
  builder.has_layouts = true;
  builder.bytes = bytes_of_build;
  builder.seconds = std::chrono::duration<double>{a_build}.count();
  builder.before = [this](CommitSha const&) {
    world.clock.time += a_build;
  };
}

std::string Stage::date_of(DaysAgo ago) const {
  std::chrono::year_month_day const date{request.last_night - std::chrono::days{ago}};
  return fmt::format("{:04}-{:02}-{:02}",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::optional<Nightly> Stage::nightly_of(DaysAgo ago) {
  return store().nightlies().of_date(date_of(ago));
}

std::function<bool(Build const&)> Stage::is_published(DaysAgo from, DaysAgo to) const {
  return [first = date_of(from), last = date_of(to)](Build const& build) {
    return build.manifest.date >= first && build.manifest.date <= last;
  };
}

void Stage::before_round(measure::RoundKey const& key) {
  world.clock.time += a_round;
  processes.begin_round();
  bool const is_searching =
      subject_of(key.campaign).bisection && key.campaign.name.ends_with("/search");
  if (interruption && is_searching && --interruption->rounds < 0) hang(key);
}

void Stage::hang(measure::RoundKey const& key) {
  auto& hangs_in = world.parts->rounds.hangs_in;
  if (!hangs_in.empty()) return;  // a round of another fleet
  hangs_in = key.campaign.name;
  auto const go_on = [this, id = subject_of(key.campaign).bisection.value()] {
    auto const then = std::exchange(interruption, std::nullopt)->then;
    then(id);
    world.parts->rounds.hangs_in.clear();
  };
  boost::asio::post(world.loop, go_on);
}

fakes::World::Moves is_any_of(std::vector<Series> series) {
  return [series = std::move(series)](Series const& one) {
    return std::ranges::find(series, one) != series.end();
  };
}

}  // namespace torchwatch::years
