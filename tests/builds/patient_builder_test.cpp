#include "daemon/builds/patient_builder.h"

#include <chrono>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "tests/fakes/memory/world.h"
#include "tests/runner/run.h"
#include "tests/storage/samples.h"

namespace torchwatch::builds {
namespace {

namespace asio = boost::asio;
using std::chrono::hours;
using std::chrono::minutes;

constexpr RecipeId some_recipe{7};

BuildAttempt passing() {
  BuildAttempt attempt;
  attempt.note = "recipe: exit status 1";
  attempt.may_pass = true;
  return attempt;
}

BuildAttempt good() {
  BuildAttempt attempt;
  attempt.build.emplace();
  return attempt;
}

/// Returns the results that a test sets.
class ScriptedBuilder final : public Builder {
 public:
  asio::awaitable<Result<Recipe>> recipe(int) override { co_return Recipe{}; }

  asio::awaitable<Result<BuildAttempt>> build(CommitSha, RecipeId, From) override {
    ++asked;
    co_return answer;
  }

  asio::awaitable<Result<BuildAttempt>> build_without(CommitSha, CommitSha, RecipeId) override {
    ++asked;
    co_return answer;
  }

  Known known(CommitSha const&, RecipeId) const override { return is_known; }

  bool is_warm() const override { return false; }

  Result<BuildAttempt> answer = passing();
  Known is_known = Known::nothing;
  int asked = 0;
};

class PatientBuilderTest : public testing::Test {
 protected:
  /// Builds as a new process each time.
  Result<BuildAttempt> build(char commit = 'a') {
    PatientBuilder patient{scripted, store, clock};
    return tests::run(loop, patient.build(tests::sha_of(commit), some_recipe, From::source));
  }

  Result<BuildAttempt> build_without_culprit() {
    PatientBuilder patient{scripted, store, clock};
    return tests::run(loop,
                      patient.build_without(tests::sha_of('a'), tests::sha_of('b'), some_recipe));
  }

  boost::asio::io_context loop{1};
  fakes::MemoryFolder folder;
  storage::Store store = storage::Store::open(folder.path() / "db").value();
  fakes::TestClock clock;
  ScriptedBuilder scripted;
};

TEST_F(PatientBuilderTest, TriesAgainAtOnceThenAfterHalfTheTimeThatItHasLasted) {
  ASSERT_FALSE(build());
  scripted.answer = good();
  EXPECT_TRUE(build().value().build);

  scripted.answer = passing();
  for (auto const wait : {minutes{0}, minutes{10}, minutes{5}}) {
    clock.time += wait;
    auto const failed = build();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::unavailable);
    EXPECT_EQ(failed.error().message, "recipe: exit status 1");
  }
  auto const asked = scripted.asked;
  clock.time += minutes{7};
  EXPECT_EQ(build().error().message, "recipe: exit status 1; the next attempt is in 1 min");
  EXPECT_EQ(scripted.asked, asked);
}

TEST_F(PatientBuilderTest, GivesUpADayAfterTheFirstAttemptAndRepeatsTheReason) {
  ASSERT_FALSE(build());
  clock.time += hours{23};
  ASSERT_FALSE(build());
  clock.time += hours{1};
  for (int i = 0; i < 2; ++i) {
    auto const given_up = build();
    ASSERT_TRUE(given_up) << "a kill may have come before this was stored";
    EXPECT_FALSE(given_up->build);
    EXPECT_EQ(given_up->note, "recipe: exit status 1");
  }
}

TEST_F(PatientBuilderTest, IsPatientAgainWithALaterRequest) {
  ASSERT_FALSE(build('a'));
  clock.time += hours{24};
  ASSERT_TRUE(build('a'));
  ASSERT_FALSE(build('b'));
  clock.time += hours{24};
  EXPECT_FALSE(build('a')) << "a day after it was given up";
  clock.time += hours{24 * 7};
  EXPECT_FALSE(build('b')) << "not asked for in a week";
}

TEST_F(PatientBuilderTest, CountsEachCommitForItself) {
  ASSERT_FALSE(build('a'));
  clock.time += hours{24};
  EXPECT_FALSE(build('b'));
  EXPECT_TRUE(build('a'));
}

TEST_F(PatientBuilderTest, IsPatientWithAReverted) {
  ASSERT_FALSE(build_without_culprit());
  clock.time += hours{24};
  EXPECT_FALSE(build_without_culprit().value().build);
}

TEST_F(PatientBuilderTest, CountsNoAttemptForAnError) {
  scripted.answer = Error{ErrorCode::refused, "recipe aborted: exit status 129"};
  ASSERT_FALSE(build());
  clock.time += hours{24};
  scripted.answer = passing();
  EXPECT_FALSE(build()) << "this is the first attempt";
}

TEST_F(PatientBuilderTest, TriesOnceWhatWillNotPass) {
  scripted.answer = BuildAttempt{};
  EXPECT_FALSE(build().value().build);
}

TEST_F(PatientBuilderTest, DoesNotWaitForWhatIsReadyByNow) {
  ASSERT_FALSE(build());
  clock.time += minutes{10};
  ASSERT_FALSE(build());
  scripted.answer = good();
  scripted.is_known = Known::built;
  EXPECT_TRUE(build().value().build);
}

}  // namespace
}  // namespace torchwatch::builds
