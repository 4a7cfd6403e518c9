#include <array>
#include <csignal>
#include <cstdint>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/store.h"
#include "tests/storage/samples.h"

namespace torchwatch::tests {
namespace {

using storage::Store;

/// Records outcomes from `round` on, without end, and writes each round to `committed` once it is
/// stored.
[[noreturn]] void write_without_end(std::filesystem::path const& file, int round, int committed) {
  auto store = Store::open(file);
  if (!store) ::_exit(1);
  for (;; ++round) {
    store->jobs().record({outcome_of({"nightly/1"}, round, round)});
    if (::write(committed, &round, sizeof round) != sizeof round) ::_exit(2);
  }
}

/// A child process that writes, and is killed in the middle of a round after `lives` rounds.
class DoomedWriter {
 public:
  DoomedWriter(std::filesystem::path const& file, int from) {
    if (::pipe(pipe_.data()) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::close(pipe_[0]);
      write_without_end(file, from, pipe_[1]);
    }
    ::close(pipe_[1]);
  }

  DoomedWriter(DoomedWriter const&) = delete;
  DoomedWriter& operator=(DoomedWriter const&) = delete;

  ~DoomedWriter() { ::close(pipe_[0]); }

  /// Waits for `lives` rounds and then `moment`, kills it, and returns the last round it reported.
  int kill_after(int lives, std::chrono::microseconds moment) {
    int last = -1;
    for (int reported = 0; reported < lives && read(last);)
      ++reported;
    ::usleep(static_cast<useconds_t>(moment.count()));
    ::kill(child_, SIGKILL);
    while (read(last)) {
    }
    int status = 0;
    ::waitpid(child_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << status;
    return last;
  }

 private:
  bool read(int& round) { return ::read(pipe_[0], &round, sizeof round) == sizeof round; }

  std::array<int, 2> pipe_{};
  pid_t child_ = -1;
};

TEST(Crash, AKilledWriterLosesNothingThatWasCommitted) {
  TemporaryFolder const folder;
  int last = -1;
  for (int death = 0; death < 20; ++death) {
    SCOPED_TRACE("death " + std::to_string(death));
    last = DoomedWriter{folder.database(), last + 1}.kill_after(
        1 + death % 4, std::chrono::microseconds{death * 397});
    ASSERT_GE(last, 0);

    auto store = Store::open(folder.database());  // the lock died with the writer
    ASSERT_TRUE(store) << store.error().message;
    auto const kept = store->jobs().of({"nightly/1"});
    ASSERT_GE(kept.size(), static_cast<std::size_t>(last) + 1);
    for (int round = 0; round <= last; ++round) {
      auto const& outcome = kept[static_cast<std::size_t>(round)];
      EXPECT_EQ(outcome.key.round, round);
      EXPECT_EQ(outcome.values.size(), 2U);
    }
    for (auto const& outcome : kept)
      EXPECT_EQ(outcome.values.size(), 2U);  // complete, or absent
    last = static_cast<int>(kept.size()) - 1;

    SQLite::Database database{folder.database().string()};
    EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
  }
  EXPECT_GT(last, 20);
}

}  // namespace
}  // namespace torchwatch::tests
