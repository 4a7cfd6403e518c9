/// A year of nightlies from an index over TLS, with a year's failures.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/fakes/downloads/download_host.h"
#include "tests/fakes/memory/executioner.h"
#include "tests/fakes/memory/world.h"
#include "tests/fetch/archive_writer.h"
#include "tests/temporary_folder.h"

namespace torchwatch::feed {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using fakes::HostFault;

constexpr int year = 365;

/// The days on which nightlies are looked for: all, or 50 in builds that are not optimized. They
/// have each failure.
constexpr int first_day = fakes::of_ten_seeds == 10 ? 0 : 180;
constexpr int last_day = fakes::of_ten_seeds == 10 ? year : 230;

constexpr auto page = "/libtorch/nightly/cpu/";

/// The failure of each day of the year.
bool is_missing(int day) {
  return day % 37 == 5 || (day >= 200 && day < 203);
}

bool is_late(int day) {
  return day % 41 == 7;
}

bool repeats_its_trunk(int day) {
  return day % 29 == 3;
}

bool is_published_again(int day) {
  return day % 53 == 10;
}

bool is_broken(int day) {
  return day % 97 == 20;
}

std::string date_of(int day) {
  std::chrono::sys_days const first{2026y / 1 / 1};
  std::chrono::year_month_day const date{first + std::chrono::days{day}};
  return fmt::format("{}-{:02}-{:02}",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

class YearTest : public testing::Test {
 protected:
  YearTest() {
    world_.fetcher = &fetcher_;
    world_.options.feed.kind = config::FeedKind::libtorch;
    world_.options.feed.path.clear();
    world_.options.feed.url = host_.url();
    world_.options.feed.ca_file = identity_.ca.string();
    world_.options.suite.models = {"alpha"};
    world_.options.decide.sweep_pairs = 1;
    world_.restart();
  }

  static std::string version_of(int day) {
    auto compact = date_of(day);
    std::erase(compact, '-');
    return "2.9.0.dev" + compact + "+cpu";
  }

  static std::string target_of(int day) {
    return std::string{page} + "libtorch-shared-with-deps-" + version_of(day) + ".zip";
  }

  /// The file that PyTorch publishes on a day. `edition`: the number of the contents under one
  /// name.
  std::string archive_of(int day, CommitSha const& release, int edition) {
    auto const file = folder_ / "archive.zip";
    fetch::ArchiveWriter writer{file, fetch::ArchiveWriter::Format::zip};
    writer.add_file("libtorch/build-version", version_of(day) + "\n");
    writer.add_file("libtorch/build-hash", release.hex + "\n");
    writer.add_file("libtorch/share/cmake/Torch/TorchConfig.cmake", "");
    writer.add_file("libtorch/include/torch/csrc/api/include/torch/torch.h", "");
    writer.add_file("libtorch/lib/edition", std::to_string(edition));
    writer.close();
    return tests::text_of(file);
  }

  void upload(int day, int edition = 1) {
    auto content = archive_of(day, releases_.at(day), edition);
    if (is_broken(day)) content.resize(content.size() / 2);
    auto const etag = fmt::format("\"{}-{}\"", day, edition);
    host_.host(target_of(day), {.content = std::move(content), .etag = etag});
    listed_.insert(day);
    write_page();
  }

  /// Only the newest sixty are listed.
  void write_page() {
    std::string text;
    std::size_t left = listed_.size();
    for (int const day : listed_)
      if (left-- <= 60)
        text += "<a href=\"" + target_of(day) + "\">" + version_of(day) + "</a><br/>\n";
    host_.host(page, {.content = text, .etag = fmt::format("\"{}\"", ++pages_)});
  }

  /// Publishes what is available in the morning of a day.
  void dawn(int day) {
    if (!repeats_its_trunk(day)) ++trunk_;
    if (!is_missing(day)) {
      releases_[day] = world_.release(date_of(day), trunk_);
      commits_[day] = world_.sha(trunk_);
      if (!is_late(day)) upload(day);
    }
    if (is_late(day - 2) && !is_missing(day - 2)) upload(day - 2);
    if (is_published_again(day - 1) && newest() == day - 1) upload(day - 1, 2);
  }

  /// Returns the newest day that the service knows.
  std::optional<int> newest() {
    auto const known = world_.nightlies();
    if (known.empty()) return std::nullopt;
    for (int const day : listed_)
      if (date_of(day) == known.back().date) return day;
    return std::nullopt;
  }

  std::map<std::string, std::vector<Nightly>> nightlies_by_date() {
    std::map<std::string, std::vector<Nightly>> by_date;
    for (auto const& nightly : world_.nightlies())
      by_date[nightly.date].push_back(nightly);
    return by_date;
  }

  /// Checks a day whose file arrived once, or twice with other contents.
  void expect_right_builds(int day, std::vector<Nightly> const& nightlies) const {
    auto const state = is_broken(day) ? NightlyState::failed : NightlyState::done;
    EXPECT_LE(nightlies.size(), is_published_again(day) ? 2U : 1U) << date_of(day);
    int edition = 0;
    for (auto const& nightly : nightlies) {
      ++edition;
      EXPECT_EQ(nightly.state, state) << date_of(day) << ": " << nightly.failure;
      if (is_broken(day)) continue;
      fs::path const prefix = nightly.prefix;
      EXPECT_EQ(nightly.commit, commits_.at(day)) << date_of(day);
      EXPECT_EQ(tests::text_of(prefix / "build-hash"), releases_.at(day).hex + "\n");
      EXPECT_EQ(tests::text_of(prefix / "lib/edition"), std::to_string(edition));
    }
  }

  void disturb(int day) {
    if (day % 17 == 2) host_.fail({{.status = 503}});
    if (day % 31 == 11) host_.fail({HostFault{}, HostFault{}, {.drop_after = 100}});
    if (day % 23 == 9) host_.fail({{.delay = 200ms}});
  }

  fakes::World world_{year + 2};
  tests::TemporaryFolder folder_;
  fakes::ServerIdentity identity_ = fakes::make_identity(folder_.path(), {"127.0.0.1"});
  fakes::DownloadHost host_{identity_};
  builds::FetchProgram fetcher_{world_.loop.get_executor(), FETCH_PROGRAM};
  std::set<int> listed_;
  std::map<int, CommitSha> releases_;
  std::map<int, CommitSha> commits_;
  std::size_t trunk_ = 0;
  int pages_ = 0;
};

TEST_F(YearTest, EndsWithTheRightBuildForEveryDay) {
  int failed_passes = 0;
  std::set<std::string> alarms;
  Timestamp const first = world_.clock.time;
  for (int day = first_day; day < last_day; ++day) {
    world_.clock.time = first + std::chrono::hours{24 * day};
    dawn(day);
    disturb(day);
    failed_passes += world_.pass() ? 0 : 1;
    for (auto const& alarm : world_.parts->store.alarms().open())
      if (alarm.kind != AlarmKind::environment)  // this host has a pace of its own
        alarms.insert(alarm.detail.substr(0, alarm.detail.find(": ")));
  }

  auto const by_date = nightlies_by_date();
  EXPECT_EQ(by_date.size(), releases_.size());
  for (auto const& [day, release] : releases_) {
    auto const nightlies = by_date.find(date_of(day));
    ASSERT_NE(nightlies, by_date.end()) << date_of(day);
    expect_right_builds(day, nightlies->second);
  }
  auto const broken = std::ranges::count_if(
      releases_, [](auto const& release) { return is_broken(release.first); });
  EXPECT_EQ(failed_passes, broken) << "other trouble passes within the download";
  std::set<std::string> expected{"no nightly since " + date_of(199),
                                 "nightly " + date_of(203) + " is compared with " + date_of(199)};
  EXPECT_EQ(alarms, expected);
}

}  // namespace
}  // namespace torchwatch::feed
