#include "runner/caches.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "run.h"
#include "workplace.h"
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/round.h"
#include "tests/temporary_folder.h"
#include "tests/temporary_variable.h"

namespace torchwatch::runner {

namespace {

namespace fs = std::filesystem;
using protocol::Failure;
using protocol::Job;
using protocol::Message;
using protocol::Outcome;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

/// The answer of a worker whose accounts are the shell's variables `misses` and `lines`.
constexpr auto printed_answer =
    R"(printf '{"type":"result","id":"ok","benchmark":"test_eval[ok-cpu-eager]",'
printf '"metrics":{"latency":{"value":7,"samples":[7]}},'
printf '"accounts":{"cache_misses":%s,"lines":%s}}\n' $misses $lines)";

/// A worker that compiles unless its cache has the code, and adds a line to its cache.
std::string compiling_worker(std::string const& before_answer = "") {
  return R"(echo '{"type":"hello","role":"worker"}'; read job
misses=0; [ -e "$MY_CACHE/code" ] || misses=1; touch "$MY_CACHE/code"
echo line >> "$MY_CACHE/lines"; lines=$(grep -c line "$MY_CACHE/lines")
)" + before_answer +
         '\n' + printed_answer;
}

/// Rounds of jobs with caches, with and without a sandbox.
class CachesTest : public testing::TestWithParam<bool> {
 protected:
  Job job(std::string const& build = "nightly-1") {
    auto job = workplace_.job("ok");
    job.build.worker = workplace_.prefix() + "/worker";
    job.caches.variables = {"MY_CACHE"};
    job.caches.directory = (state_ / build).string();
    job.caches.fill = "a";
    return job;
  }

  void worker_is(std::string const& script) { workplace_.write_program("worker", script); }

  std::vector<Message> answers_to(protocol::Round round) {
    return tests::run(loop_, run_round(std::move(round), surroundings(), [](auto const&) {}));
  }

  Message answer_to(Job job) {
    protocol::Round round;
    round.jobs.push_back(std::move(job));
    return answers_to(std::move(round)).front();
  }

  double lines_of(Job job) {
    auto const message = answer_to(std::move(job));
    auto const* const outcome = std::get_if<Outcome>(&message);
    EXPECT_NE(outcome, nullptr) << protocol::encode(message);
    return outcome == nullptr ? -1 : outcome->accounts.at("lines");
  }

  Failure failure_of(Job job) {
    auto const message = answer_to(std::move(job));
    auto const* const failure = std::get_if<Failure>(&message);
    return failure == nullptr ? Failure{"", "no failure", protocol::encode(message)} : *failure;
  }

  WorkerEnvironment surroundings() {
    WorkerEnvironment surroundings;
    if (GetParam()) surroundings.isolation = tests::best_isolation(loop_);
    return surroundings;
  }

  /// The directories of the caches of a build: filled ones, and any others.
  std::vector<std::string> caches_of(std::string const& build) const {
    std::vector<std::string> names;
    std::error_code ignored;
    for (auto const& entry :
         fs::directory_iterator{state_ / build / "test_eval[ok-cpu-eager]", ignored})
      names.push_back(entry.path().filename());
    return names;
  }

  tests::Workplace workplace_;
  tests::TemporaryFolder state_;
  boost::asio::io_context loop_{1};
};

TEST_P(CachesTest, AreFilledByAJobOfTheirOwnAndThenCopiedForEachProcess) {
  worker_is(compiling_worker());

  EXPECT_EQ(lines_of(job()), 2) << "one of the fill, one of the job";
  EXPECT_EQ(lines_of(job()), 2) << "no job changes what was filled";
  EXPECT_THAT(caches_of("nightly-1"), SizeIs(1));
}

TEST_P(CachesTest, AreOfOneBuildFillAndNumberOfThreads) {
  worker_is(compiling_worker());
  auto other_fill = job();
  other_fill.caches.fill = "b";
  auto wide = job();
  wide.measure.threads = 2;

  for (auto const& each : {job(), job("nightly-2"), other_fill, wide})
    EXPECT_EQ(lines_of(each), 2);

  EXPECT_THAT(caches_of("nightly-1"), SizeIs(3));
  EXPECT_THAT(caches_of("nightly-2"), SizeIs(1));
}

TEST_P(CachesTest, DoNotDependOnTheNumberOfRunsOrAProfile) {
  auto longer = job();
  longer.measure.runs = 99;
  longer.measure.leak_iterations = 99;
  longer.measure.profile = true;
  longer.id = "another";
  longer.takes_turns = true;

  EXPECT_EQ(filled_caches_of(longer, surroundings()), filled_caches_of(job(), surroundings()));
}

TEST_P(CachesTest, AreFilledByTheShortestJobThatWorkersAllow) {
  auto const fill = filling(job()).measure;

  EXPECT_EQ(fill.runs, 1);
  EXPECT_EQ(fill.warmup, 1);
  EXPECT_EQ(fill.leak_iterations, 8);
}

TEST_P(CachesTest, OfBothBuildsOfARoundAreFilledFirst) {
  worker_is(compiling_worker());
  protocol::Round round;
  round.jobs = {job("nightly-1"), job("nightly-2")};

  for (bool const one_by_one : {false, true}) {
    round.one_by_one = one_by_one;
    for (auto const& message : answers_to(round))
      EXPECT_EQ(std::get<Outcome>(message).accounts.at("lines"), 2);
  }
}

TEST_P(CachesTest, ThatMissFailTheJobAndAreFilledAgain) {
  worker_is(compiling_worker());
  lines_of(job());
  fs::remove(filled_caches_of(job(), surroundings()) / "MY_CACHE/code");

  auto const failure = failure_of(job());

  EXPECT_EQ(failure.code, "cache");
  EXPECT_THAT(failure.text, HasSubstr("found 1 compiled graphs that its filled caches lack"));
  EXPECT_THAT(caches_of("nightly-1"), IsEmpty());
  EXPECT_EQ(lines_of(job()), 2);
}

TEST_P(CachesTest, ThatCannotBeFilledFailTheirJobAlone) {
  worker_is(compiling_worker(R"(case $job in *'"is_filling":true'*) exit 3;; esac)"));
  protocol::Round round;
  round.jobs = {job(), workplace_.job("ok")};

  for (bool const one_by_one : {false, true}) {
    round.one_by_one = one_by_one;
    auto const answers = answers_to(round);

    EXPECT_EQ(std::get<Failure>(answers[0]).id, "ok");
    EXPECT_EQ(std::get<Failure>(answers[0]).code, "crashed");
    EXPECT_THAT(std::get<Failure>(answers[0]).text, StartsWith("while its caches were filled: "));
    EXPECT_EQ(std::get<Outcome>(answers[1]).metrics.at("cmem").value, 1e6);
    EXPECT_THAT(caches_of("nightly-1"), IsEmpty()) << "half-filled ones are not kept";
  }
}

/// A runner that was killed leaves such a directory.
TEST_P(CachesTest, ThatAreHalfStoredAreNotUsed) {
  worker_is(compiling_worker());
  fs::path const filled = filled_caches_of(job(), surroundings());
  fs::create_directories(filled.string() + ".part-abcdef/MY_CACHE");
  std::ofstream{filled.string() + ".part-abcdef/MY_CACHE/code"} << "half";

  EXPECT_EQ(lines_of(job()), 2);
  EXPECT_TRUE(fs::exists(filled / "MY_CACHE/lines"));
}

TEST_P(CachesTest, ThatAnotherRunnerStoredFirstStay) {
  tests::TemporaryFolder const mine;
  std::ofstream{mine / "code"} << "mine";
  auto const filled = state_ / "cache";
  fs::create_directories(filled);
  std::ofstream{filled / "code"} << "theirs";

  ASSERT_TRUE(tests::run(loop_, store_caches(mine.path(), filled, 100)));

  std::string kept;
  std::ifstream{filled / "code"} >> kept;
  EXPECT_EQ(kept, "theirs");
  EXPECT_EQ(state_.entries(), 1) << "nothing else is left";
}

TEST_P(CachesTest, ThatAreTooLargeAreNotStored) {
  tests::TemporaryFolder const large;
  std::ofstream{large / "code"} << std::string(101, 'x');

  auto const stored = tests::run(loop_, store_caches(large.path(), state_ / "cache", 100));

  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().message,
            "the compile caches have 101 bytes, allowed are 100, as measure.memory_mib sets");
  EXPECT_EQ(state_.entries(), 0);
}

TEST_P(CachesTest, KeepLinksAndTimes) {
  worker_is(compiling_worker(R"sh(case $job in *'"is_filling":true'*)
  ln -s code "$MY_CACHE/link"; touch -d 2001-02-03 "$MY_CACHE/old";; esac
[ "$(date -r "$MY_CACHE/old" +%Y)" = 2001 ] && [ -L "$MY_CACHE/link" ] || lines=0)sh"));

  EXPECT_EQ(lines_of(job()), 2);
}

TEST_P(CachesTest, HideTheNameOfTheBuildFromTheWorker) {
  worker_is(compiling_worker(R"(case $job in *nightly-1*) lines=0;; esac)"));
  EXPECT_EQ(lines_of(job()), 2);
}

TEST_P(CachesTest, AreNotKeptWithoutADirectory) {
  worker_is(R"(echo '{"type":"hello","role":"worker"}'; read job
misses=1; lines=0; [ -n "$MY_CACHE" ] || lines=5
)" + std::string{printed_answer});
  auto without = job();
  without.caches.directory.clear();

  EXPECT_EQ(lines_of(without), 5) << "a miss is expected then";
}

/// Files that a build leaves in default caches must not reach the next one.
TEST_P(CachesTest, ByDefaultArePrivate) {
  tests::TemporaryVariable const inherited{"TRITON_CACHE_DIR", std::nullopt};
  worker_is(R"(echo '{"type":"hello","role":"worker"}'; read job
misses=0; lines=0
for place in "${TMPDIR:-/tmp}/torchinductor_me" "${TRITON_CACHE_DIR:-$HOME/.triton}"; do
  [ ! -e "$place" ] || lines=9; mkdir -p "$place"
done
)" + std::string{printed_answer});
  auto without = job();
  without.caches = {};

  EXPECT_EQ(lines_of(without), 0);
  EXPECT_EQ(lines_of(without), 0) << "the first process left nothing";
  EXPECT_FALSE(fs::exists(fs::temp_directory_path() / "torchinductor_me"));
}

INSTANTIATE_TEST_SUITE_P(Kept, CachesTest, testing::Bool(), [](auto const& test) {
  return test.param ? "InASandbox" : "WithoutSandbox";
});

}  // namespace

}  // namespace torchwatch::runner
