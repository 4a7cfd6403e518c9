#include "storage/nightlies.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using NightliesTest = TablesTest;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(NightliesTest, ANightlyIsReadAsItWasAnnounced) {
  auto const id = announce("2026-01-01", 'a');

  auto const read = store.nightlies().find(id).value();

  auto const written = nightly_of("2026-01-01", 'a');
  EXPECT_EQ(read.date, written.date);
  EXPECT_EQ(read.version, written.version);
  EXPECT_EQ(read.commit, written.commit);
  EXPECT_EQ(read.release_commit, written.release_commit);
  EXPECT_EQ(read.prefix, written.prefix);
  EXPECT_EQ(read.state, NightlyState::announced);
  EXPECT_EQ(read.baseline, std::nullopt);
  EXPECT_EQ(read.failure, "");
  EXPECT_EQ(read.announced_at, early);
}

TEST_F(NightliesTest, ANightlyIsUpdated) {
  auto const baseline = announce("2026-01-01", 'a');
  auto nightly = store.nightlies().find(announce("2026-01-02", 'b')).value();
  nightly.state = NightlyState::failed;
  nightly.prefix = "/elsewhere";
  nightly.baseline = baseline;
  nightly.failure = "no such \"file\"";
  nightly.version = "2.9.0a0+git1a2b3c4";

  store.nightlies().update(nightly);

  auto const read = store.nightlies().find(nightly.id).value();
  EXPECT_EQ(read.state, NightlyState::failed);
  EXPECT_EQ(read.prefix, "/elsewhere");
  EXPECT_EQ(read.version, "2.9.0a0+git1a2b3c4");
  EXPECT_EQ(read.baseline, baseline);
  EXPECT_EQ(read.failure, "no such \"file\"");
}

TEST_F(NightliesTest, EveryStateOfANightlyIsKept) {
  using enum NightlyState;
  auto nightly = store.nightlies().find(announce("2026-01-01", 'a')).value();
  for (auto const state :
       {announced, prepared, swept, screened, confirmed, bisected, done, failed}) {
    nightly.state = state;
    store.nightlies().update(nightly);
    EXPECT_EQ(store.nightlies().find(nightly.id)->state, state);
  }
}

TEST_F(NightliesTest, AKnownNightlyIsNotNew) {
  EXPECT_TRUE(store.nightlies().announce(nightly_of("2026-01-01", 'a')));
  auto again = nightly_of("2026-01-01", 'a');
  again.prefix = "/other";
  EXPECT_FALSE(store.nightlies().announce(again));
  EXPECT_TRUE(store.nightlies().announce(nightly_of("2026-01-01", 'b')));
  EXPECT_EQ(store.nightlies().all().at(0).prefix, "/builds/2026-01-01");
  EXPECT_EQ(store.nightlies().all().size(), 2U);
}

TEST_F(NightliesTest, NightliesSinceADateIncludeTheDate) {
  announce("2026-01-01", 'a');
  auto const second = announce("2026-01-02", 'b');
  auto const third = announce("2026-01-03", 'c');

  auto const since = store.nightlies().since("2026-01-02");

  ASSERT_EQ(since.size(), 2U);
  EXPECT_EQ(since.at(0).id, second);
  EXPECT_EQ(since.at(1).id, third);
  EXPECT_TRUE(store.nightlies().since("2026-01-04").empty());
}

TEST_F(NightliesTest, NightliesOfACommitAreThoseOfAnyDate) {
  auto const first = announce("2026-01-01", 'a');
  announce("2026-01-02", 'b');
  auto const again = announce("2026-01-03", 'a');

  auto const built = store.nightlies().of(sha_of('a'));

  ASSERT_EQ(built.size(), 2U);
  EXPECT_EQ(built.at(0).id, first);
  EXPECT_EQ(built.at(1).id, again);
}

TEST_F(NightliesTest, AFileIsKnownBeforeItsCommitIs) {
  auto published = nightly_of("2026-01-01", 'a');
  published.commit = {};
  published.file = PublishedFile{"https://index/a.whl", "sha", "", ""};
  EXPECT_TRUE(store.nightlies().announce(published));
  EXPECT_FALSE(store.nightlies().announce(published));
  auto nightly = store.nightlies().all().at(0);
  EXPECT_EQ(nightly.commit.hex, "");
  EXPECT_EQ(nightly.file, published.file);

  nightly.commit = sha_of('a');
  nightly.release_commit = sha_of('b');
  nightly.file->url = "https://other/a.whl";
  nightly.file->bytes = 7;
  nightly.file->aliases = {"\"2\"", "W/\"3\""};
  nightly.file->etag = "\"1\"";
  nightly.file->last_modified = "Tue";
  nightly.release_date = "2025-12-31";
  store.nightlies().update(nightly);

  auto const read = store.nightlies().find(nightly.id).value();
  EXPECT_EQ(read.commit, sha_of('a'));
  EXPECT_EQ(read.release_commit, sha_of('b'));
  EXPECT_EQ(read.file, nightly.file);
  EXPECT_EQ(read.release_date, "2025-12-31");
}

TEST_F(NightliesTest, AFileThatIsPublishedAgainIsAnotherEdition) {
  auto first = nightly_of("2026-01-01", 'a');
  first.file = PublishedFile{"https://index/a.whl", "a", "\"1\"", ""};
  auto elsewhere = first;
  elsewhere.file->url = "https://other/a.whl";
  elsewhere.file->etag = "\"2\"";
  auto again = first;
  again.file->sha256 = "b";
  auto otherwise = first;
  otherwise.file = std::nullopt;
  EXPECT_TRUE(store.nightlies().announce(first));
  EXPECT_FALSE(store.nightlies().announce(elsewhere));
  EXPECT_TRUE(store.nightlies().announce(again));
  EXPECT_TRUE(store.nightlies().announce(otherwise));
  EXPECT_FALSE(store.nightlies().announce(again));
}

TEST_F(NightliesTest, NightliesAreOrderedByDateNotById) {
  store.nightlies().announce(nightly_of("2026-01-02", 'b'));
  store.nightlies().announce(nightly_of("2026-01-01", 'a'));

  EXPECT_EQ(store.nightlies().all().front().date, "2026-01-01");
  EXPECT_EQ(store.nightlies().newest()->date, store.nightlies().all().back().date);
  EXPECT_EQ(store.nightlies().next_unfinished()->date, "2026-01-01");
}

TEST_F(NightliesTest, FirstDateOfTheLastNightlies) {
  EXPECT_EQ(store.nightlies().first_date_of_last(2), std::nullopt);
  announce("2026-01-01", 'a');
  EXPECT_EQ(store.nightlies().first_date_of_last(2), "2026-01-01");
  announce("2026-01-02", 'b');
  announce("2026-01-04", 'c');
  EXPECT_EQ(store.nightlies().first_date_of_last(2), "2026-01-02");
}

TEST_F(NightliesTest, JudgedNightliesAreCountedFromTheEnd) {
  announce("2026-01-01", 'a', NightlyState::done);
  announce("2026-01-02", 'b', NightlyState::bisected);
  announce("2026-01-03", 'c', NightlyState::failed);
  announce("2026-01-04", 'd', NightlyState::done);
  announce("2026-01-05", 'e');

  EXPECT_EQ(store.nightlies().judged_from_end(1)->date, "2026-01-04");
  EXPECT_EQ(store.nightlies().judged_from_end(3)->date, "2026-01-01");
  EXPECT_EQ(store.nightlies().judged_from_end(4), std::nullopt);
}

TEST_F(NightliesTest, LastBeforeIsTheNewestEarlierOneThatIsWanted) {
  auto const first = announce("2026-01-01", 'a');
  auto const second = announce("2026-01-02", 'b');
  auto const last = announce("2026-01-02", 'c');
  announce("2026-01-03", 'd');
  auto const nightly = store.nightlies().find(last).value();
  auto const any = [](Nightly const&) {
    return true;
  };
  auto const of_first = [&](Nightly const& one) {
    return one.id == first;
  };
  auto const none = [](Nightly const&) {
    return false;
  };

  EXPECT_EQ(store.nightlies().last_before(nightly, any)->id, second) << "of the same date";
  EXPECT_EQ(store.nightlies().last_before(nightly, of_first)->id, first);
  EXPECT_EQ(store.nightlies().last_before(nightly, none), std::nullopt);
}

/// Nightlies of which some were compared with others.
class ComparedBeforeTest : public TablesTest {
 protected:
  using enum NightlyState;

  /// Announces a nightly that was compared with `baseline`.
  NightlyId compare(NightlyId baseline, std::string const& date, char digit, NightlyState state) {
    store.nightlies().announce(nightly_of(date, digit));
    for (auto& nightly : store.nightlies().of(sha_of(digit))) {
      if (nightly.date != date) continue;
      nightly.state = state;
      nightly.baseline = baseline;
      store.nightlies().update(nightly);
      return nightly.id;
    }
    return {};
  }

  /// The ids of each nightly that was compared before this one, and its baseline.
  std::vector<std::pair<NightlyId, NightlyId>> compared_before(NightlyId id, int most = 20) {
    std::vector<std::pair<NightlyId, NightlyId>> ids;
    auto const nightly = store.nightlies().find(id).value();
    for (auto const& [one, baseline] : store.nightlies().compared_before(nightly, most))
      ids.emplace_back(one.id, baseline.id);
    return ids;
  }

  std::size_t count(NightlyId id) {
    return store.nightlies().count_compared_before(store.nightlies().find(id).value());
  }
};

TEST_F(ComparedBeforeTest, ReturnsTheNewestNightliesWithABaseline) {
  auto const first = announce("2026-01-01", 'a', done);
  auto const second = compare(first, "2026-01-02", 'b', bisected);
  compare(second, "2026-01-03", 'c', failed);
  auto const fourth = compare(second, "2026-01-04", 'd', done);
  auto const fifth = compare(fourth, "2026-01-05", 'e', done);
  auto const sixth = compare(fifth, "2026-01-06", 'f', screened);

  EXPECT_THAT(
      compared_before(sixth),
      ElementsAre(std::pair{fifth, fourth}, std::pair{fourth, second}, std::pair{second, first}));
  EXPECT_THAT(compared_before(sixth, 2),
              ElementsAre(std::pair{fifth, fourth}, std::pair{fourth, second}));
  EXPECT_EQ(count(sixth), 3U);
  EXPECT_THAT(compared_before(second), IsEmpty());
  EXPECT_EQ(count(second), 0U);
}

TEST_F(ComparedBeforeTest, IgnoresNightliesAnnouncedLater) {
  auto const first = announce("2026-01-01", 'a', done);
  auto const second = compare(first, "2026-01-02", 'b', done);
  auto const nightly = compare(second, "2026-01-06", 'c', screened);
  compare(second, "2026-01-03", 'd', done);
  compare(nightly, "2026-01-07", 'e', done);

  EXPECT_THAT(compared_before(nightly), ElementsAre(std::pair{second, first}));
  EXPECT_EQ(count(nightly), 1U);
}

TEST_F(ComparedBeforeTest, LeavesOutBuildsOfOneCommit) {
  auto const first = announce("2026-01-01", 'a', done);
  auto const again = compare(first, "2026-01-02", 'a', done);
  auto const nightly = compare(again, "2026-01-03", 'c', swept);

  EXPECT_THAT(compared_before(nightly), IsEmpty());
}

TEST_F(NightliesTest, NextUnfinishedIsTheOldestThatIsNotJudged) {
  announce("2026-01-01", 'a', NightlyState::done);
  announce("2026-01-02", 'b', NightlyState::failed);
  auto const investigated = announce("2026-01-03", 'c', NightlyState::bisected);
  auto const next = announce("2026-01-04", 'd', NightlyState::swept);
  announce("2026-01-05", 'e');

  EXPECT_EQ(store.nightlies().next_unfinished()->id, next);
  EXPECT_EQ(store.nightlies().next_unfinished({next})->date, "2026-01-05");
  ASSERT_EQ(store.nightlies().investigated().size(), 1U);
  EXPECT_EQ(store.nightlies().investigated().front().id, investigated);
}

TEST_F(NightliesTest, AnUnknownWordIsNamedWithItsColumn) {
  announce("2026-01-01", 'a');
  SQLite::Database{folder.database().string(), SQLite::OPEN_READWRITE}.exec(
      "UPDATE nightly SET state = 'sleeping'");

  try {
    store.nightlies().all();
    FAIL() << "nothing was thrown";
  } catch (std::runtime_error const& problem) {
    EXPECT_STREQ(problem.what(), "database holds unknown word \"sleeping\" in column state");
  }
}

}  // namespace
}  // namespace torchwatch::tests
