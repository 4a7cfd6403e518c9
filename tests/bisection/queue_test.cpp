#include "daemon/bisection/queue.h"

#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>

#include "tests/fakes/memory/world.h"

namespace torchwatch::bisection {
namespace {

namespace asio = boost::asio;
using testing::HasSubstr;
using testing::SizeIs;

class QueueTest : public testing::Test {
 protected:
  QueueTest() { world.change(5, "alpha", 1.2); }

  Queue& queue() { return world.parts->queue; }

  Result<Bisection> ask(BisectionRequest request,
                        std::optional<IncidentId> incident = std::nullopt) {
    return world.run(queue().ask({std::move(request), incident}));
  }

  Bisection stored(BisectionId id) { return world.parts->store.bisections().find(id).value(); }

  /// Starts what waits, does something once it hangs, and returns when nothing runs.
  template <class Do>
  void start_and(Do what) {
    auto task = [&]() -> asio::awaitable<int> {
      queue().start();
      asio::steady_timer timer{world.loop, std::chrono::milliseconds{30}};
      co_await timer.async_wait(asio::use_awaitable);
      what();
      co_await queue().join();
      co_return 0;
    };
    world.run(task());
  }

  void run_all() {
    start_and([] {});
  }

  fakes::World world;
};

TEST_F(QueueTest, AcceptsAndRunsARequest) {
  auto const asked = ask(world.request(0, 8)).value();
  EXPECT_EQ(asked.state, BisectionState::queued);
  run_all();

  EXPECT_EQ(stored(asked.id).outcome, BisectionOutcome::culprit);
}

TEST_F(QueueTest, ReturnsTheEqualBisectionUntilThatHasEnded) {
  auto const first = ask(world.request(0, 8)).value();
  EXPECT_EQ(ask(world.request(0, 8))->id, first.id);
  EXPECT_NE(ask(world.request(0, 7))->id, first.id);
  world.restart();
  EXPECT_EQ(ask(world.request(0, 8))->id, first.id) << "after a restart";
  ASSERT_TRUE(queue().steer(first.id, BisectionState::paused));
  EXPECT_EQ(ask(world.request(0, 8))->id, first.id) << "while it is paused";

  ASSERT_TRUE(queue().steer(first.id, BisectionState::queued));
  run_all();
  EXPECT_NE(ask(world.request(0, 8))->id, first.id) << "the first has ended";
}

TEST_F(QueueTest, RefusesWhatCannotBeBisected) {
  EXPECT_EQ(ask(world.request(3, 3)).error().message, "start and end are the same commit");
  EXPECT_TRUE(ask(world.request(5, 3))) << "an older build may be asked about";
  auto request = world.request(0, 8);
  request.start = tests::sha_of('d');
  EXPECT_EQ(ask(request).error().code, ErrorCode::not_found);

  world.options.source.repository.clear();
  EXPECT_THAT(ask(world.request(0, 8)).error().message, HasSubstr("source.repository"));
}

TEST_F(QueueTest, PausesAtOnceAndGoesOnWhenResumed) {
  auto const asked = ask(world.request(0, 8)).value();
  world.parts->rounds.hangs_in = "bisect/";
  start_and([&] { ASSERT_TRUE(queue().steer(asked.id, BisectionState::paused)); });
  EXPECT_EQ(stored(asked.id).state, BisectionState::paused);

  world.restart();
  run_all();
  EXPECT_EQ(stored(asked.id).state, BisectionState::paused) << "it outlives a restart";

  ASSERT_TRUE(queue().steer(asked.id, BisectionState::queued));
  run_all();
  EXPECT_EQ(stored(asked.id).outcome, BisectionOutcome::culprit);
}

/// A campaign of each kind that a bisection awaits.
class QueueAtEachAwait : public QueueTest, public testing::WithParamInterface<char const*> {};

TEST_P(QueueAtEachAwait, EndsWhenItIsCancelled) {
  auto const asked = ask(world.request(0, 8)).value();
  world.parts->rounds.before = [&](measure::RoundKey const& key) {
    if (key.campaign.name.find(GetParam()) != std::string::npos)
      world.parts->rounds.hangs_in = key.campaign.name;
  };
  start_and([&] { ASSERT_TRUE(queue().steer(asked.id, BisectionState::cancelled)); });

  EXPECT_EQ(stored(asked.id).state, BisectionState::cancelled);
  EXPECT_FALSE(stored(asked.id).outcome);
}

INSTANTIATE_TEST_SUITE_P(Campaigns,
                         QueueAtEachAwait,
                         testing::Values("/search", "/proof/", "/revert-check/"));

TEST_F(QueueTest, GoesOnWhenItIsResumedBeforeItStoodStill) {
  auto const asked = ask(world.request(0, 8)).value();
  world.parts->rounds.hangs_in = "bisect/";
  start_and([&] {
    ASSERT_TRUE(queue().steer(asked.id, BisectionState::paused));
    world.parts->rounds.hangs_in.clear();
    ASSERT_TRUE(queue().steer(asked.id, BisectionState::queued));
  });
  EXPECT_EQ(stored(asked.id).outcome, BisectionOutcome::culprit);
}

TEST_F(QueueTest, RunAwaitsABisectionThatHasBeenStarted) {
  auto const asked = ask(world.request(0, 8)).value();
  std::set<std::pair<std::string, int>> measured;
  world.parts->rounds.before = [&](measure::RoundKey const& key) {
    EXPECT_TRUE(measured.insert({key.campaign.name, key.round}).second) << key.campaign.name;
  };
  auto task = [&]() -> asio::awaitable<Result<Bisection>> {
    queue().start();
    co_return co_await queue().run(asked.id);
  };
  EXPECT_EQ(world.run(task())->outcome, BisectionOutcome::culprit);
}

TEST_F(QueueTest, SteersNothingThatIsUnknownOrHasEnded) {
  EXPECT_EQ(queue().steer(BisectionId{9}, BisectionState::paused).error().message,
            "bisection 9 is not known");
  auto const asked = ask(world.request(0, 8)).value();
  run_all();
  auto const refused = queue().steer(asked.id, BisectionState::queued);
  EXPECT_EQ(refused.error().code, ErrorCode::refused);
  EXPECT_EQ(refused.error().message,
            "bisection 1 is done: only one that has not ended can be resumed");
}

class QueueWithAnIncident : public QueueTest {
 protected:
  QueueWithAnIncident() {
    store.nightlies().announce(tests::nightly_of("2026-01-01", 'a'));
    store.nightlies().announce(tests::nightly_of("2026-01-02", 'b'));
    nightly = store.nightlies().all().back();
    be(NightlyState::confirmed);
    store.incidents().record(nightly.id, {world.series("alpha"), tests::slower()});
    incident =
        store.incidents().open(store.nightlies().all().front().id, nightly.id, world.clock.now());
  }

  void be(NightlyState state) {
    nightly.state = state;
    store.nightlies().update(nightly);
  }

  storage::Store& store = world.parts->store;
  Nightly nightly;
  Incident incident;
};

TEST_F(QueueWithAnIncident, GivesNoIncidentToRequestsBeforeThePipelinesOwn) {
  for (auto const state : {NightlyState::screened, NightlyState::confirmed}) {
    be(state);
    EXPECT_EQ(ask(world.request(0, 8), incident.id)->incident, std::nullopt);
  }
  be(NightlyState::done);  // without one
  EXPECT_EQ(ask(world.request(0, 8), incident.id)->incident, incident.id);
}

TEST_F(QueueWithAnIncident, LeavesToThePipelineWhatItsNightlyWaitsFor) {
  auto const asked = store.bisections().ask(world.request(0, 8), incident.id, world.clock.now());
  run_all();
  EXPECT_EQ(stored(asked.id).state, BisectionState::queued);

  EXPECT_EQ(ask(world.request(0, 8), incident.id)->id, asked.id)
      << "the same, of the same incident";
  EXPECT_NE(ask(world.request(0, 8))->id, asked.id) << "of none";
  auto const of_a_person = ask(world.request(0, 7), incident.id).value();
  EXPECT_EQ(of_a_person.incident, incident.id);
  run_all();
  EXPECT_EQ(stored(asked.id).state, BisectionState::queued);
  EXPECT_EQ(stored(of_a_person.id).state, BisectionState::done) << "nothing waits for it";

  be(NightlyState::done);
  run_all();
  EXPECT_EQ(stored(asked.id).state, BisectionState::done);
}

TEST_F(QueueTest, SearchesTheMergeThatABisectionNamedBeforeItJoins) {
  auto const side = world.trunk.branch_off(3, 2);
  world.trunk.merge(side.back());
  std::set<CommitSha> const slow{side[1], world.sha(9)};
  world.parts->rounds.level = [slow](Series const&, Build const& build) {
    return slow.contains(build.manifest.commit) ? 1.2 : 1.0;
  };
  auto const outer = ask(world.request(0, 9)).value();
  run_all();

  auto const all = world.parts->store.bisections().all_in_brief();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].inside, (SearchedMerge{outer.id, world.sha(9), 2}));
  EXPECT_EQ(all[0].outcome, BisectionOutcome::culprit);
  EXPECT_EQ(all[0].findings.at(0).suspects.front().sha, side[1]);
}

TEST_F(QueueWithAnIncident, LeavesMergesToThePipeline) {
  auto outer = store.bisections().ask(world.request(0, 8), incident.id, world.clock.now());
  outer.state = BisectionState::done;
  Bisection inner;
  inner.incident = incident.id;
  inner.request = world.request(0, 7);
  inner.inside = SearchedMerge{outer.id, world.sha(8), 3};
  store.bisections().update(outer, {inner});
  auto const asked = store.bisections().unfinished().at(0);
  run_all();
  EXPECT_EQ(stored(asked.id).state, BisectionState::queued);

  be(NightlyState::done);
  run_all();
  EXPECT_EQ(stored(asked.id).state, BisectionState::done);
}

TEST_F(QueueTest, RetriesWaitingBisectionsAtTheNextCall) {
  auto const asked = ask(world.request(0, 8)).value();
  world.parts->rounds.out_of_service = {"local"};
  run_all();
  EXPECT_EQ(stored(asked.id).state, BisectionState::running);

  world.parts->rounds.out_of_service.clear();
  world.parts->rounds.before = [](measure::RoundKey const&) {
    throw std::runtime_error("the disk is full");
  };
  run_all();
  EXPECT_EQ(stored(asked.id).state, BisectionState::running);

  world.parts->rounds.before = [](measure::RoundKey const&) {
  };
  run_all();
  EXPECT_EQ(stored(asked.id).outcome, BisectionOutcome::culprit);
}

TEST_F(QueueTest, EndsRunningBisectionsWithTheirTask) {
  auto const asked = ask(world.request(0, 8)).value();
  world.parts->rounds.hangs_in = "bisect/";
  auto task = [&]() -> asio::awaitable<int> {
    queue().start();
    co_return 7;
  };
  EXPECT_EQ(world.run(ending_bisections(queue(), task())), 7);
  EXPECT_EQ(stored(asked.id).state, BisectionState::running) << "and goes on after a restart";
}

}  // namespace
}  // namespace torchwatch::bisection
