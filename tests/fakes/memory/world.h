#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "config/options.h"
#include "daemon/service/parts.h"
#include "storage/store.h"
#include "tests/fakes/memory/fake_builder.h"
#include "tests/fakes/memory/fake_fetcher.h"
#include "tests/fakes/memory/fake_workers.h"
#include "tests/fakes/memory/scripted_rounds.h"
#include "tests/fakes/memory/trunk.h"
#include "tests/runner/run.h"
#include "tests/storage/samples.h"

namespace torchwatch::fakes {

/// A temporary folder, in memory if the system has /dev/shm. Removed when this object is destroyed.
class MemoryFolder {
 public:
  MemoryFolder();
  MemoryFolder(MemoryFolder const&) = delete;
  MemoryFolder& operator=(MemoryFolder const&) = delete;
  ~MemoryFolder();

  std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A clock that a test sets.
class TestClock final : public Clock {
 public:
  Timestamp now() const override { return time; }

  Timestamp time{std::chrono::seconds{1767323045}};
};

/// The external services of the pipeline: a real Store and BuildStore, and scripted rounds and
/// builds.
struct FakeServices {
  FakeServices(config::Options const& options,
               std::filesystem::path const& folder,
               Clock const& clock);

  storage::Store store;
  builds::BuildStore build_store;
  ScriptedRounds rounds;
  FakeBuilder builder;
};

/// The service's own parts with the fake services. They start no process.
struct Parts : FakeServices, service::ServiceParts {
  Parts(boost::asio::any_io_executor const& executor,
        config::Options const& options,
        std::filesystem::path const& folder,
        Clock const& clock,
        builds::Fetcher& fetcher,
        builds::Workers& workers,
        report::OpenTransport const& open_transport,
        github::Sleeper const& sleep);
};

/// A watched trunk, and a service that can be killed and restarted. Nightlies come from the branch
/// `nightly`, unless `deliver` or `publish` changes the feed. A new nightly moves the clock to
/// 08:00 of its day, if it is earlier. Pauses between requests to GitHub move the clock.
class World {
 public:
  /// The trunk has the commits 0 to `commits` - 1. The suite has the test eval of two models,
  /// "alpha" and "beta".
  explicit World(std::size_t commits = 9);

  /// Multiplies a model's metric by `ratio` from this commit on.
  void change(std::size_t commit, std::string model, double ratio, Metric metric = Metric::latency);

  /// Returns true when a change affects a series.
  using Moves = std::function<bool(Series const&)>;

  /// Multiplies these series by `ratio` from this commit on.
  void change(std::size_t commit, Moves moves, double ratio);

  /// Multiplies a model's latency by `ratio` from this commit on, in builds with the usual layout.
  /// The recipe supports layouts from now on.
  void change_layout(std::size_t commit, std::string model, double ratio);

  /// Multiplies these series by `ratio` from this commit on, in builds with the usual layout.
  void change_layout(std::size_t commit, Moves moves, double ratio);

  /// Adds a commit to the trunk. Its message is its subject, and maybe a body.
  void land(std::string message);

  /// Adds a commit that reverts a commit of the constructor, by its message. Call change() for what
  /// it reverts.
  void land_revert_of(std::size_t commit);

  /// Adds a nightly to the branch. Returns its release commit.
  CommitSha release(std::string const& date, std::size_t commit);

  /// Adds a nightly to a directory, which is the feed from now on. `ratio` multiplies all latencies
  /// of this build, but not of other builds of its commit. Returns its prefix.
  std::filesystem::path deliver(std::string const& date, std::size_t commit, double ratio = 1);

  /// Adds a nightly to the branch and to an index of LibTorch archives, which is the feed from now
  /// on. Returns its file, which the test may change.
  FakeFetcher::File& publish(std::string const& date, std::size_t commit);

  /// Adds a nightly to the branch and to an index of wheels of the channel cu130, which is the feed
  /// from now on. Returns its file, which the test may change.
  FakeFetcher::File& publish_wheel(std::string const& date,
                                   std::size_t commit,
                                   std::string const& python = "cp312");

  /// Creates new parts on the stored state, as after a crash.
  void restart();

  /// Runs one pass over the feed. Lets exceptions through.
  Result<> pass() { return run(parts->pipeline.pass()); }

  template <class T>
  T run(boost::asio::awaitable<T> task) {
    return tests::run(loop, std::move(task));
  }

  std::vector<Nightly> nightlies() { return parts->store.nightlies().all(); }

  Nightly newest() { return nightlies().back(); }

  /// Returns the kinds of the open alarms.
  std::vector<AlarmKind> alarms();

  Series series(std::string model, Metric metric = Metric::latency) const {
    return {"local", {std::move(model), Test::eval, Device::cpu, "eager"}, metric};
  }

  /// Returns a request to bisect the latency of alpha between two commits.
  BisectionRequest request(std::size_t start, std::size_t end) const;

  CommitSha const& sha(std::size_t commit) const { return trunk.commit(commit); }

  MemoryFolder folder;
  boost::asio::io_context loop{1};
  TestClock clock;
  Trunk trunk;
  FakeFetcher index;
  builds::Fetcher* fetcher = &index;  ///< a test that sets another one must restart
  FakeWorkers workers;
  config::Options options;
  report::OpenTransport open_transport;  ///< empty: reports are files
  std::unique_ptr<Parts> parts;

 private:
  boost::asio::awaitable<void> wait(std::chrono::seconds pause);

  struct Change {
    std::size_t commit = 0;
    Moves moves;
    double ratio = 1;
    bool is_layout = false;
  };

  FakeFetcher::File& publish_on(std::string const& page,
                                std::string const& before,
                                std::string const& after,
                                std::string const& date,
                                std::size_t commit);
  void move_clock_to(std::string const& date);
  void watch(config::FeedKind kind);
  double level(Series const& series, Build const& build) const;
  bool has_usual_layout(Build const& build) const;
  std::size_t number_of(CommitSha const& commit) const;

  std::vector<Change> changes_;
  bool has_layouts_ = false;
  std::map<std::string, double> delivered_;  // by prefix
  std::map<CommitSha, std::size_t> releases_;
};

}  // namespace torchwatch::fakes
