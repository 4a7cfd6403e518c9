#include "daemon/service/checkup.h"

#include <atomic>
#include <functional>
#include <future>
#include <stop_token>

#include <gmock/gmock.h>

#include "storage/soundness.h"
#include "tests/service/damage.h"

namespace torchwatch::service {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

/// A clock that tests move, and that another thread reads.
class MovedClock final : public Clock {
 public:
  Timestamp now() const override { return Timestamp{std::chrono::seconds{now_.load()}}; }

  void advance(std::chrono::seconds by) { now_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_{1'800'000'000};
};

class CheckupTest : public testing::Test {
 protected:
  CheckupTest() { tests::make_unsealed_store(file()); }

  fs::path file() const { return folder_ / "torchwatch.sqlite"; }

  static bool eventually(std::function<bool()> const& holds) {
    for (int i = 0; i < 2000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  std::string note() const { return tests::text_of(file().string() + ".checked"); }

  std::string now() const { return std::to_string(clock_.now().time_since_epoch().count()) + "\n"; }

  bool is_noted_now() const {
    return eventually([this] { return note() == now(); });
  }

  static constexpr CheckupPlan often{.tick = 5ms};

  tests::TemporaryFolder folder_;
  MovedClock clock_;
};

TEST_F(CheckupTest, NotesThatItIsWhole) {
  Checkup const checkup{file(), clock_, often};

  EXPECT_TRUE(is_noted_now());
  EXPECT_EQ(checkup.damage(), "");
}

TEST_F(CheckupTest, ComesOnceAWeek) {
  Checkup const checkup{file(), clock_, often};
  ASSERT_TRUE(is_noted_now());
  auto const first = note();

  clock_.advance(std::chrono::days{7} - 1s);
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(note(), first);

  clock_.advance(1s);
  EXPECT_TRUE(is_noted_now());
}

TEST_F(CheckupTest, IsNeitherRepeatedNorPutOffByARestart) {
  {
    Checkup const checkup{file(), clock_, often};
    ASSERT_TRUE(is_noted_now());
  }
  auto const first = note();

  clock_.advance(std::chrono::days{6});
  {
    Checkup const checkup{file(), clock_, often};
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(note(), first);
  }
  clock_.advance(std::chrono::days{1});
  Checkup const checkup{file(), clock_, often};
  EXPECT_TRUE(is_noted_now());
}

TEST_F(CheckupTest, ComesAtOnceWhereTheNoteIsNonsenseOrOfTheFuture) {
  for (std::string const nonsense : {"", "soon", "1900000000"}) {
    std::ofstream{file().string() + ".checked"} << nonsense;
    Checkup const checkup{file(), clock_, often};
    EXPECT_TRUE(is_noted_now()) << nonsense;
  }
}

TEST_F(CheckupTest, FindsWhatTheLookAtTheStartDoesNot) {
  tests::flip_a_byte_of_an_index(file());
  ASSERT_TRUE(storage::inspect(file())) << "a check of the indexes is not worth the minutes";

  Checkup const checkup{file(), clock_, often};

  ASSERT_TRUE(eventually([&] { return !checkup.damage().empty(); }));
  EXPECT_THAT(checkup.damage(),
              AllOf(HasSubstr(file().string() + ": damaged: "),
                    HasSubstr("index"),
                    HasSubstr("restore a backup"),
                    HasSubstr(".recover")));
  EXPECT_EQ(note(), "") << "a restart would hide it";
}

TEST_F(CheckupTest, DetectsARepair) {
  auto const good = tests::text_of(file());
  tests::flip_a_byte_of_an_index(file());
  Checkup const checkup{file(), clock_, often};
  ASSERT_TRUE(eventually([&] { return !checkup.damage().empty(); }));

  std::ofstream{file(), std::ios::binary} << good;
  clock_.advance(std::chrono::days{1});

  EXPECT_TRUE(eventually([&] { return checkup.damage().empty(); }));
  EXPECT_TRUE(is_noted_now());
}

TEST_F(CheckupTest, RunsDuringWrites) {
  auto store = storage::Store::open(file()).value();
  Checkup const checkup{file(), clock_, often};

  for (int i = 0; i < 50; ++i) {
    store.recipes().with(RecipeKind::program, "new " + std::to_string(i));
    clock_.advance(std::chrono::days{7});
  }

  EXPECT_TRUE(is_noted_now());
  EXPECT_EQ(checkup.damage(), "");
}

/// A gigabyte takes seconds, and a service stops within them.
TEST_F(CheckupTest, IsAbortedWhenTheServiceStops) {
  {
    SQLite::Database database{file().string(), SQLite::OPEN_READWRITE};
    database.exec("CREATE TABLE big (a INTEGER, b TEXT)");
    database.exec(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) "
        "INSERT INTO big SELECT i, hex(randomblob(40)) FROM n");
    database.exec("CREATE INDEX big_by_b ON big (b)");
  }
  auto const begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(storage::inspect_all(file(), {}));
  auto const whole = std::chrono::steady_clock::now() - begun;

  std::stop_source service;
  auto look = std::async(std::launch::async, storage::inspect_all, file(), service.get_token());
  std::this_thread::sleep_for(whole / 10);
  service.request_stop();

  // One that goes on to its end finds it whole.
  auto const found = look.get();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace torchwatch::service
