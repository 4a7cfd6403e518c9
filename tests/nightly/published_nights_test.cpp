/// A year of a feed of wheels with the habits of its publishers, drawn from a seed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "fetch/index_page.h"
#include "fetch/offers.h"
#include "tests/fakes/memory/executioner.h"
#include "tests/fakes/memory/world.h"
#include "tests/lab/dice.h"

namespace torchwatch::nightly {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using File = fakes::FakeFetcher::File;

constexpr int a_year = 365;     // days
constexpr int looks_a_day = 3;  // at 8, 14 and 20 o'clock
constexpr std::string_view first_host = "https://download.pytorch.org";
constexpr std::string_view other_host = "https://download-r2.pytorch.org";
constexpr auto followed_python = "cp313";
constexpr auto other_python = "cp312";

std::string date_of(int day) {
  std::chrono::year_month_day const date{std::chrono::sys_days{2026y / 1 / 3} +
                                         std::chrono::days{day}};
  return fmt::format("{}-{:02}-{:02}",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

/// An index whose page is HTML, read by the code that reads PyTorch's. Its files are those of a
/// FakeFetcher, below the names of two hosts.
class HtmlIndex final : public builds::Fetcher {
 public:
  /// `files` must outlive it.
  explicit HtmlIndex(fakes::FakeFetcher& files) : files_{files} {}

  asio::awaitable<Result<fetch::Fetched>> fetch(fetch::FetchRequest request) override {
    auto& url = request.download.url;
    if (url.starts_with(other_host)) url.replace(0, other_host.size(), first_host);
    co_return co_await files_.fetch(std::move(request));
  }

  asio::awaitable<Result<fetch::Index>> look_into(fetch::IndexRequest request) override {
    co_return read(request);
  }

  asio::awaitable<Result<fetch::CompanionFile>> find(fetch::CompanionRequest request) override {
    co_return co_await files_.find(std::move(request));
  }

  std::string page;
  std::optional<Error> trouble;  ///< that asking for the page meets

 private:
  /// Does what fetch::look_into does with a page that came. The page's text is its version.
  Result<fetch::Index> read(fetch::IndexRequest const& request) const {
    if (trouble) return *trouble;
    fetch::Index index;
    index.validators.etag = page;
    bool const is_known = request.page.known == index.validators;
    index.end = is_known ? fetch::Downloaded::End::unchanged : fetch::Downloaded::End::whole;
    if (is_known) return index;
    auto const links = fetch::links_of(page, request.page.url);
    if (!links) return links.error();
    index.offers = fetch::offers_in(*links, request.filter);
    if (index.offers.empty()) index.misfit = fetch::why_none_fits(*links, request.filter);
    index.newer = fetch::newer_for_other_pythons(*links, request.filter);
    return index;
  }

  fakes::FakeFetcher& files_;
};

/// The ways in which a nightly is published.
enum class Habit {
  whole,           ///< all wheels at once, in the morning
  pieces,          ///< one Python after the other
  gap,             ///< not at all
  late,            ///< on the day after, when the next night was published
  after_midnight,  ///< with the date of the next day
  stray,           ///< in pieces, and one Python with the date of the next day, too
  two_versions,    ///< as 2.9.0 and as 2.10.0
  edition          ///< again with other contents, six hours later
};

struct Rate {
  Habit habit;
  std::size_t percent;
};

constexpr std::array rates{Rate{Habit::gap, 4},
                           Rate{Habit::late, 4},
                           Rate{Habit::after_midnight, 3},
                           Rate{Habit::stray, 4},
                           Rate{Habit::two_versions, 4},
                           Rate{Habit::edition, 8}};

/// A published nightly.
struct PublishedNight {
  std::string date;
  std::string version;
  CommitSha release;
};

/// The expected results of a date and version.
struct Expected {
  std::string date;
  std::size_t editions = 0;  ///< after the first
  bool is_late = false;      ///< it need not be measured
  /// Its first file may be that of the nightly before, and the right one an edition.
  bool has_stray = false;
};

/// Nightlies of a year, drawn from a seed, and the service that watches them. The rates:
///
///     a night is not published, nor are up to three after it     4%
///     on the day after, when the next one was published          4%
///     built after midnight: its files have the next date, and
///     the next night has none of its own                         3%
///     in pieces, and after 6 h one Python with the next date,
///     too: by the evening it is taken for the next nightly, and
///     that night's own file replaces it                          4%
///     as two versions, half of them of the same commit           4%
///     again after 6 h with other contents, half of them of the
///     same commit; for half of them an edge has the old file
///     for 6 h more, while its head and the page have the new     8%
///     otherwise in pieces: a Python in the morning, the other up
///     to 12 h later, in any order; 8% lack the Python that is
///     followed; 25% of the files are dead for 6 or 12 h (403,
///     404, 503, a short body)
///
///     on a day the ETags of its files change alone               20%
///     the page is dead, cut off or yesterday's for 6 h           10%
///     the links move to the other host                            5%
///     digests appear on the page, or go                           7%
///     the service is restarted                                    5%
///
/// The trunk grows on six of seven nights. One commit in twelve makes "alpha" 25% slower, twenty
/// commits after the last one that did at the earliest, so no nightly brings two of them.
///
/// In one seed of ten the trunk commits come from a clone, and incidents are bisected. In the
/// others the releases stand for them, which is faster.
class PublishedNights {
 public:
  explicit PublishedNights(int seed)
      : dice_{static_cast<std::uint64_t>(seed)},
        reads_trunk_{seed % 10 == 0} {
    world_.fetcher = &index_;
    auto& options = world_.options;
    options.feed.kind = config::FeedKind::wheels;
    options.feed.path.clear();
    options.feed.channel = "cu130";
    options.feed.machine = "x86_64";
    options.suite.models = {"alpha"};
    options.decide.sweep_pairs = 1;
    if (!reads_trunk_) options.source.repository.clear();
    if (!reads_trunk_) options.source.recipe.clear();
    restart();
  }

  /// Lives through the days, and two more in which what is left of them comes.
  void live() {
    for (look_ = 0; look_ < (a_year + 2) * looks_a_day; ++look_)
      live_for_a_while();
    auto const alpha = world_.series("alpha");
    auto const ids = world_.parts->store.histories().nightlies_with({alpha.fleet, alpha.benchmark});
    measured_ = {ids.begin(), ids.end()};
  }

  /// Checks that each nightly exists and is measured once, and once more for each later edition.
  void expect_each_nightly_once() {
    EXPECT_TRUE(last_) << last_.error().message;
    std::map<std::string, std::vector<Nightly>> by_version;
    for (auto& nightly : world_.nightlies())
      by_version[nightly.version].push_back(std::move(nightly));
    EXPECT_EQ(by_version.size(), expected_.size());
    for (auto const& [version, expected] : expected_)
      expect_once(version, expected, by_version[version]);
  }

  /// Each regression has one incident, of the first nightly that could show it, and no incident is
  /// without one.
  void expect_each_regression_once() {
    auto const incidents = world_.parts->store.incidents().all();
    EXPECT_GE(slower_.size(), 5U);
    std::size_t with_regressions = 0;
    for (auto const commit : slower_) {
      auto const found = nightlies_of(incidents, commit);
      EXPECT_EQ(found, first_that_shows(commit)) << "regression of commit " << commit;
      with_regressions += found.size();
    }
    EXPECT_EQ(incidents.size(), with_regressions);
  }

 private:
  bool happens(std::size_t one_in) { return dice_.below(one_in) == 0; }

  /// Below `bound`, which is above 0.
  int below(int bound) { return static_cast<int>(dice_.below(static_cast<std::size_t>(bound))); }

  /// Plans an action, `looks` looks from now.
  void later(int looks, std::function<void()> action) {
    to_come_.emplace(look_ + looks, std::move(action));
  }

  void restart() {
    world_.restart();
    world_.parts->rounds.noise = 0.003;
    world_.parts->rounds.metrics = [](Device) {
      return std::vector{Metric::latency};
    };
  }

  /// Makes a pass in the morning, and after any change or failure.
  void live_for_a_while() {
    day_ = look_ / looks_a_day;
    bool const is_morning = look_ % looks_a_day == 0;
    auto const midnight = std::chrono::sys_days{2026y / 1 / 3} + std::chrono::days{day_};
    world_.clock.time = midnight + std::chrono::hours{8 + look_ % looks_a_day * 6};
    if (is_morning && day_ < a_year) begin_day();
    bool const has_happened = happen();
    show_page();
    if (is_morning || has_happened || had_happened_ || !last_) last_ = world_.pass();
    had_happened_ = has_happened;
  }

  /// Runs the planned actions that are due. True when there were any.
  bool happen() {
    bool has_happened = false;
    while (!to_come_.empty() && to_come_.begin()->first <= look_) {
      auto const action = std::move(to_come_.begin()->second);
      to_come_.erase(to_come_.begin());
      action();
      has_happened = true;
    }
    return has_happened;
  }

  void begin_day() {
    yesterdays_page_ = html();
    forget_old_files();
    if (happens(20)) restart();
    if (happens(20)) is_moved_ = !is_moved_;
    if (happens(15)) has_digests_ = !has_digests_;
    if (happens(5)) later(below(looks_a_day), [this, date = date_of(day_)] { rename_tags(date); });
    if (!happens(7)) grow();
    auto const habit = next_habit();
    // An edition has to be seen before the next night.
    if (habit != Habit::edition && happens(10)) later(below(2), [this] { break_page(); });
    publish(habit);
  }

  /// An index lists a few weeks.
  void forget_old_files() {
    auto const oldest = date_of(day_ - 20);
    std::erase_if(world_.index.files, [&](auto const& file) { return file.second.date < oldest; });
  }

  void rename_tags(std::string const& date) {
    for (auto& [url, file] : world_.index.files)
      if (file.date == date) file.etag = next_etag();
  }

  void break_page() {
    page_fault_ = 1 + below(3);
    later(1, [this] { page_fault_ = 0; });
  }

  void grow() {
    constexpr std::size_t apart = 20;
    ++trunk_;
    auto const last = slower_.empty() ? std::size_t{0} : slower_.back();
    if (trunk_ < last + apart || !happens(12)) return;
    world_.change(trunk_, "alpha", 1.25);
    slower_.push_back(trunk_);
  }

  Habit next_habit() {
    if (to_follow_.empty()) {
      auto const habit = drawn_habit();
      to_follow_.push_back(habit);
      plan_after(habit);
    }
    auto const habit = to_follow_.front();
    to_follow_.pop_front();
    return habit;
  }

  Habit drawn_habit() {
    auto drawn = dice_.below(100);
    for (auto const& [habit, percent] : rates) {
      if (drawn < percent) return habit;
      drawn -= percent;
    }
    return Habit::pieces;
  }

  /// Returns the number of nightlies that a habit needs after it.
  void plan_after(Habit habit) {
    if (habit == Habit::gap) to_follow_.insert(to_follow_.end(), dice_.below(4), Habit::gap);
    if (habit == Habit::late) to_follow_.push_back(Habit::whole);
    if (habit == Habit::after_midnight) to_follow_.push_back(Habit::gap);
    if (habit == Habit::stray) to_follow_.push_back(happens(2) ? Habit::whole : Habit::pieces);
  }

  void publish(Habit habit) {
    switch (habit) {
      case Habit::whole:
        return publish_whole(0, night_of(day_, release_trunk()));
      case Habit::pieces:
        return publish_in_pieces(night_of(day_, release_trunk()));
      case Habit::gap:
        return;
      case Habit::late:
        return publish_late(night_of(day_, release_trunk()));
      case Habit::after_midnight:
        return publish_whole(looks_a_day, night_of(day_ + 1, release_trunk()));
      case Habit::stray:
        return publish_with_stray(release_trunk());
      case Habit::two_versions:
        return publish_two(release_trunk());
      case Habit::edition:
        return publish_twice(night_of(day_, release_trunk()));
    }
  }

  /// Releases the trunk's newest commit.
  CommitSha release_trunk() {
    auto const release = world_.release(date_of(day_), trunk_);
    numbers_[release] = trunk_;
    return release;
  }

  static PublishedNight night_of(int day,
                                 CommitSha const& release,
                                 std::string const& number = "2.9.0") {
    auto const date = date_of(day);
    auto compact = date;
    std::erase(compact, '-');
    return {date, number + ".dev" + compact + "+cu130", release};
  }

  void publish_whole(int looks, PublishedNight const& night) {
    later(looks, [this, night] {
      for (auto const* const python : {followed_python, other_python})
        put(night, python);
    });
  }

  /// In the afternoon of the next day.
  void publish_late(PublishedNight const& night) {
    expected_[night.version].is_late = true;
    publish_whole(looks_a_day + 1, night);
  }

  void publish_in_pieces(PublishedNight const& night) {
    std::vector<std::string> pythons{followed_python, other_python};
    dice_.shuffle(pythons);
    if (happens(12)) std::erase(pythons, followed_python);
    int look = 0;
    for (auto const& python : pythons) {
      later(look, [this, night, python] { put_on_an_edge(night, python); });
      look = below(looks_a_day);
    }
  }

  void publish_with_stray(CommitSha const& release) {
    publish_in_pieces(night_of(day_, release));
    auto const stray = night_of(day_ + 1, release);
    expected_[stray.version].has_stray = true;
    later(1, [this, stray] { put(stray, other_python); });
  }

  void publish_two(CommitSha const& first) {
    publish_whole(0, night_of(day_, first));
    auto second = first;
    if (happens(2)) {
      grow();
      second = release_trunk();
    }
    publish_whole(below(2), night_of(day_, second, "2.10.0"));
  }

  void publish_twice(PublishedNight const& night) {
    publish_whole(0, night);
    auto again = night;
    if (happens(2)) {
      grow();
      again.release = release_trunk();
    }
    later(1, [this, again] { put_again(again); });
  }

  static std::string url_of(PublishedNight const& night, std::string const& python) {
    auto version = night.version;
    version.replace(version.find('+'), 1, "%2B");
    return fmt::format("{}/whl/nightly/cu130/torch-{}-{}-{}-manylinux_2_28_x86_64.whl",
                       first_host,
                       version,
                       python,
                       python);
  }

  std::string next_etag() { return fmt::format("\"{}\"", ++etags_); }

  /// Puts a wheel on its host, in the place of the one that has its name.
  File& put(PublishedNight const& night, std::string const& python) {
    expected_[night.version].date = night.date;
    auto const url = url_of(night, python);
    auto& file = world_.index.files[url];
    file = {night.date, night.version, night.release, next_etag()};
    file.sha256 = fmt::format("{:064x}", ++contents_);
    file.length = 1000 + below(100);
    digests_[url] = file.sha256;
    releases_[file.sha256] = night.release;
    return file;
  }

  /// The edge may be dead until the evening at most.
  void put_on_an_edge(PublishedNight const& night, std::string const& python) {
    auto& file = put(night, python);
    int const left = looks_a_day - 1 - look_ % looks_a_day;
    if (left == 0 || !happens(4)) return;
    file.trouble = dice_.pick(troubles_);
    later(1 + below(left), [&file] { file.trouble.reset(); });
  }

  void put_again(PublishedNight const& night) {
    ++expected_[night.version].editions;
    bool const is_cached = happens(2);
    for (auto const* const python : {followed_python, other_python}) {
      auto const old = world_.index.files.at(url_of(night, python));
      auto& file = put(night, python);
      if (is_cached) serve_old(file, old);
    }
  }

  /// An edge has the old contents until the next look.
  void serve_old(File& file, File const& old) {
    auto const fresh = file;
    file.release = old.release;
    file.sha256 = old.sha256;
    file.cached_etag = old.etag;
    later(1, [&file, fresh] { file = fresh; });
  }

  /// The page without its faults.
  std::string html() {
    std::string text = "<!DOCTYPE html>\n<html><body>\n";
    for (auto const& [url, file] : world_.index.files) {
      auto const path = url.substr(first_host.size());
      auto const name = url.substr(url.rfind('/') + 1);
      auto const digest = has_digests_ ? "#sha256=" + digests_.at(url) : std::string{};
      text += fmt::format("<a href=\"{}{}{}\">{}</a><br/>\n",
                          is_moved_ ? other_host : std::string_view{},
                          path,
                          digest,
                          name);
    }
    return text + "</body></html>\n";
  }

  void show_page() {
    constexpr int dead = 1;
    constexpr int cut_off = 2;
    constexpr int old = 3;
    index_.trouble.reset();
    if (page_fault_ == dead) index_.trouble = dice_.pick(troubles_);
    index_.page = page_fault_ == old ? yesterdays_page_ : html();
    if (page_fault_ == cut_off) index_.page.resize(index_.page.size() / 2);
  }

  void expect_once(std::string const& version,
                   Expected const& expected,
                   std::vector<Nightly> const& nightlies) {
    auto const least = 1 + expected.editions;
    EXPECT_GE(nightlies.size(), least) << version;
    EXPECT_LE(nightlies.size(), least + (expected.has_stray ? 1U : 0U)) << version;
    std::set<std::string> contents;
    for (auto const& nightly : nightlies) {
      EXPECT_EQ(nightly.date, expected.date) << version;
      EXPECT_EQ(nightly.state, NightlyState::done) << version << ": " << nightly.failure;
      EXPECT_TRUE(measured_.contains(nightly.id) || expected.is_late) << version;
      EXPECT_TRUE(contents.insert(nightly.file->sha256).second) << version << " was taken twice";
      EXPECT_EQ(nightly.commit, commit_in(nightly)) << version;
    }
  }

  CommitSha commit_in(Nightly const& nightly) const {
    return reads_trunk_ ? world_.sha(number_of(nightly)) : releases_.at(nightly.file->sha256);
  }

  /// The number of the trunk commit that a nightly's file was built from.
  std::size_t number_of(Nightly const& nightly) const {
    return numbers_.at(releases_.at(nightly.file->sha256));
  }

  /// The nightlies of incidents that have a commit between their ends.
  std::vector<std::int64_t> nightlies_of(std::vector<Incident> const& incidents,
                                         std::size_t commit) {
    std::vector<std::int64_t> found;
    auto const known = world_.parts->store.nightlies();
    for (auto const& incident : incidents)
      if (number_of(known.find(incident.baseline).value()) < commit &&
          number_of(known.find(incident.nightly).value()) >= commit)
        found.push_back(incident.nightly.value);
    return found;
  }

  /// The first nightly that was measured with a commit; none where the year ended before.
  std::vector<std::int64_t> first_that_shows(std::size_t commit) {
    for (auto const& nightly : world_.nightlies())
      if (measured_.contains(nightly.id) && number_of(nightly) >= commit) return {nightly.id.value};
    return {};
  }

  std::vector<Error> const troubles_{{ErrorCode::refused, "the server answers 403"},
                                     {ErrorCode::unavailable, "the server has no such file"},
                                     {ErrorCode::unavailable, "the server answers 503"},
                                     {ErrorCode::unavailable, "it ended after 512 of 1024 bytes"}};

  fakes::World world_{std::size_t{a_year} + 100};
  HtmlIndex index_{world_.index};
  lab::Dice dice_;
  bool reads_trunk_;
  int look_ = 0;
  int day_ = 0;
  Result<> last_;                                      // of the last pass
  bool had_happened_ = false;                          // before the last look
  std::multimap<int, std::function<void()>> to_come_;  // by look
  std::deque<Habit> to_follow_{Habit::whole, Habit::whole};
  std::size_t trunk_ = 0;                       // its newest commit
  std::vector<std::size_t> slower_;             // commits
  std::map<CommitSha, std::size_t> numbers_;    // of the commits of releases
  std::map<std::string, CommitSha> releases_;   // by SHA-256
  std::map<std::string, std::string> digests_;  // by URL, as published
  std::map<std::string, Expected> expected_;    // by version
  std::set<NightlyId> measured_;                // those on which "alpha" ran
  int etags_ = 0;
  int contents_ = 0;
  bool is_moved_ = false;
  bool has_digests_ = false;
  int page_fault_ = 0;  // none
  std::string yesterdays_page_;
};

/// Logs nothing while it lives: a year has tens of thousands of lines.
class QuietLog {
 public:
  QuietLog() { spdlog::set_level(spdlog::level::off); }

  QuietLog(QuietLog const&) = delete;
  QuietLog& operator=(QuietLog const&) = delete;

  ~QuietLog() { spdlog::set_level(before_); }

 private:
  spdlog::level::level_enum before_ = spdlog::get_level();
};

void expect_each_once(int seed) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  QuietLog const quiet;
  PublishedNights nights{seed};
  nights.live();
  nights.expect_each_nightly_once();
  nights.expect_each_regression_once();
}

/// Up to ten seeds each, from the one given on: a hundred in all, one in a build that is slow.
class PublishedYearTest : public testing::TestWithParam<int> {};

TEST_P(PublishedYearTest, IsMeasuredOnceAndShowsEachRegressionOnce) {
  for (int seed = GetParam(); seed < GetParam() + fakes::of_ten_seeds; ++seed)
    expect_each_once(seed);
}

INSTANTIATE_TEST_SUITE_P(Seeds,
                         PublishedYearTest,
                         testing::Range(0, 10 * fakes::of_ten_seeds, 10),
                         [](testing::TestParamInfo<int> const& first) {
                           return "From" + std::to_string(first.param);
                         });

}  // namespace
}  // namespace torchwatch::nightly
