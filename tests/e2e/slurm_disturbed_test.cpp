#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/e2e/bisections.h"
#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"
#include "tests/e2e/slurm_cluster.h"
#include "tests/e2e/stored.h"

// A real Slurm cluster of four nodes with two slots each, and what happens to such clusters.
namespace torchwatch::e2e {
namespace {

using namespace std::chrono_literals;

/// Returns the options of a world whose jobs last long enough to be interrupted.
WorldOptions slow_world() {
  WorldOptions options;
  for (auto const* const name : {"test_train[dcgan-cpu-eager]",
                                 "test_eval[dcgan-cpu-eager]",
                                 "test_train[lennard_jones-cpu-eager]",
                                 "test_eval[lennard_jones-cpu-eager]"})
    options.script["benchmarks"][name] = {{"seconds", 0.3}, {"noise", 0.0002}};
  return options;
}

/// Configures a fleet of the cluster: two slots on each node. The time limit of jobs is short,
/// because Slurm does not report steps that a node lost when its daemon is back soon.
void use(World& world, SlurmCluster const& cluster) {
  auto const slots = 2 * cluster.nodes().size();
  nlohmann::json const fleet{
      {"name", "cluster"}, {"slots", slots}, {"launcher", cluster.gpu_launcher()}, {"idle_s", 2}};
  world.configure({{"fleets", nlohmann::json::array({fleet})}, {"measure", {{"timeout_s", 30}}}});
}

/// Does one thing to a cluster at a time, drawn at random. At least two nodes stay available.
class Disturbances {
 public:
  Disturbances(SlurmCluster& cluster, std::uint64_t seed) : cluster_{cluster}, random_{seed} {
    for (auto const& node : cluster.nodes())
      states_[node] = State::up;
  }

  std::chrono::milliseconds pause() {
    return std::chrono::milliseconds{std::uniform_int_distribution{300, 3000}(random_)};
  }

  void act() {
    auto const up = nodes_that(true);
    auto const out = nodes_that(false);
    bool const may_lose_one = up.size() > 2;
    switch (std::uniform_int_distribution{0, 8}(random_)) {
      case 0:
        if (may_lose_one) crash(one_of(up));
        break;
      case 1:
        if (may_lose_one) set(one_of(up), State::drained, "drain");
        break;
      case 2:
        if (may_lose_one) set(one_of(up), State::down, "down");
        break;
      case 3:
      case 4:
        if (!out.empty()) mend(one_of(out));
        break;
      case 5:
        for_a_job("cancel", &SlurmCluster::cancel);
        break;
      case 6:
        for_a_job("requeue", &SlurmCluster::requeue);
        break;
      case 7:
        note("restart");
        cluster_.restart_controller();
        break;
      default:
        preempt(one_of(up));
    }
  }

  /// Makes all nodes available.
  void heal() {
    for (auto const& node : nodes_that(false))
      mend(node);
  }

  /// The actions so far: "crash n2, drain n1".
  std::string const& story() const { return story_; }

 private:
  enum class State { up, crashed, drained, down };

  std::vector<std::string> nodes_that(bool are_up) const {
    std::vector<std::string> nodes;
    for (auto const& [node, state] : states_)
      if ((state == State::up) == are_up) nodes.push_back(node);
    return nodes;
  }

  std::string one_of(std::vector<std::string> const& names) {
    return names.at(std::uniform_int_distribution<std::size_t>{0, names.size() - 1}(random_));
  }

  void note(std::string const& action) { story_ += (story_.empty() ? "" : ", ") + action; }

  void crash(std::string const& node) {
    note("crash " + node);
    cluster_.crash(node);
    states_[node] = State::crashed;
  }

  void set(std::string const& node, State state, std::string const& word) {
    note(word + " " + node);
    cluster_.set_state(node, word);
    states_[node] = state;
  }

  void mend(std::string const& node) {
    note("mend " + node);
    if (states_[node] == State::crashed)
      cluster_.revive(node);
    else
      cluster_.set_state(node, "resume");
    states_[node] = State::up;
  }

  void preempt(std::string const& node) {
    note("preempt " + node);
    cluster_.preempt(node);
  }

  void for_a_job(std::string const& word, void (SlurmCluster::*action)(std::string const&)) {
    auto const jobs = cluster_.running_jobs();
    if (jobs.empty()) return;
    auto const job = one_of(jobs);
    note(word + " " + job);
    (cluster_.*action)(job);
  }

  SlurmCluster& cluster_;
  std::mt19937_64 random_;
  std::map<std::string, State> states_;
  std::string story_;
};

/// The parameter is the seed of the disturbances.
class DisturbedSlurm : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DisturbedSlurm, FindsThePlantedCulpritAndCountsNothingTwice) {
  constexpr int actions = 15;
  World world{slow_world()};
  SlurmCluster cluster{world.directory() / "slurm", 4};
  use(world, cluster);
  Disturbances disturbances{cluster, GetParam()};

  auto check = world.start({"check", "--json"});
  ASSERT_TRUE(eventually([&] { return !cluster.running_jobs().empty(); }, 2min)) << check.err();
  auto stored = stored_results(world.state());
  auto ended = check.ended_within(disturbances.pause());
  for (int action = 0; action < actions && !ended; ++action) {
    disturbances.act();
    auto const now = stored_results(world.state());
    EXPECT_TRUE(std::ranges::includes(now, stored)) << "lost or changed: " << disturbances.story();
    stored = now;
    ended = check.ended_within(disturbances.pause());
  }
  disturbances.heal();
  SCOPED_TRACE(disturbances.story());
  auto const done = ended ? *ended : check.wait(10min);

  expect_truth(world, done);
  EXPECT_EQ(done.err.find("job_failed"), std::string::npos) << done.err;
  EXPECT_TRUE(std::ranges::includes(stored_results(world.state()), stored));
  EXPECT_EQ(keys_stored_twice(world.state()), 0);
  EXPECT_TRUE(eventually([&] { return cluster.queue().empty(); }, 2min)) << cluster.queue();
  cluster.stop();
  expect_no_process_left(world);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DisturbedSlurm, testing::Range<std::uint64_t>(1, 11));

TEST(IdleSlurm, HasNoAllocationsBetweenPasses) {
  World world{slow_world()};
  SlurmCluster cluster{world.directory() / "slurm", 4};
  use(world, cluster);
  Service service{world};
  ASSERT_TRUE(eventually([&] { return !cluster.queue().empty(); }, 2min));
  ASSERT_TRUE(eventually([&] { return is_at_rest(service); }, 10min)) << service.process().err();

  EXPECT_TRUE(eventually([&] { return cluster.queue().empty(); }, 10s)) << cluster.queue();

  auto const log = service.process().err();
  EXPECT_NE(log.find("runner_idle"), std::string::npos) << log;
  EXPECT_EQ(log.find("runner_lost"), std::string::npos) << log;
  EXPECT_EQ(service.get("/healthz").at("last_nightly").at("state"), "done");
  service.process().send(SIGTERM);
  auto const ended = service.process().wait(10s);
  EXPECT_EQ(ended.status, 0) << ended.err;
  cluster.stop();
  expect_no_process_left(world);
}

}  // namespace
}  // namespace torchwatch::e2e
