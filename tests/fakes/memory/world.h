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

/// A folder in memory where the system has one, gone with its owner.
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

/// What stands at the service's edges: a real Store and BuildStore, and made-up rounds and builds.
struct FakeServices {
  FakeServices(config::Options const& options,
               std::filesystem::path const& folder,
               Clock const& clock);

  storage::Store store;
  builds::BuildStore build_store;
  ScriptedRounds rounds;
  FakeBuilder builder;
};

/// The service's own parts between them, without a process.
struct Parts : FakeServices, service::ServiceParts {
  Parts(boost::asio::any_io_executor const& executor,
        config::Options const& options,
        std::filesystem::path const& folder,
        Clock const& clock,
        builds::Fetcher& fetcher,
        builds::Workers& workers,
        report::OpenTransport const& open_transport);
};

/// A watched trunk, and a service that can be killed and started again. Nightlies are of the branch
/// `nightly` unless they are delivered; it is at least their day then.
class World {
 public:
  /// The trunk has commits 0 to `commits` - 1; two models are inferred with, "alpha" and "beta".
  explicit World(std::size_t commits = 9);

  /// From this commit on, a model's metric is so many times as much.
  void change(std::size_t commit, std::string model, double ratio, Metric metric = Metric::latency);

  /// Whether a change moves a series.
  using Moves = std::function<bool(Series const&)>;

  /// From this commit on, these series have so many times as much.
  void change(std::size_t commit, Moves moves, double ratio);

  /// From this commit on, a model takes so many times as long, if it is built as usual; the recipe
  /// knows layouts from now on.
  void change_layout(std::size_t commit, std::string model, double ratio);
  void change_layout(std::size_t commit, Moves moves, double ratio);

  /// Puts a nightly on the branch.
  CommitSha release(std::string const& date, std::size_t commit);

  /// Puts a nightly into a directory, which is the feed from then on. Its build, and not its
  /// commit, makes everything `ratio` times as slow.
  std::filesystem::path deliver(std::string const& date, std::size_t commit, double ratio = 1);

  /// Puts a nightly into an index of LibTorch archives, which is the feed from then on, and on the
  /// branch. Returns its file, which may be changed.
  FakeFetcher::File& publish(std::string const& date, std::size_t commit);

  /// The same with a wheel of the channel cu130.
  FakeFetcher::File& publish_wheel(std::string const& date,
                                   std::size_t commit,
                                   std::string const& python = "cp312");

  /// As after a crash: the parts are made anew on what is stored.
  void restart();

  /// One pass over the feed. Throws what it throws.
  Result<> pass() { return run(parts->pipeline.pass()); }

  template <class T>
  T run(boost::asio::awaitable<T> task) {
    return tests::run(loop, std::move(task));
  }

  std::vector<Nightly> nightlies() { return parts->store.nightlies().all(); }

  Nightly newest() { return nightlies().back(); }

  /// The alarms that are open, by kind.
  std::vector<AlarmKind> alarms();

  Series series(std::string model, Metric metric = Metric::latency) const {
    return {"local", {std::move(model), Test::eval, Device::cpu, "eager"}, metric};
  }

  /// A request to search all of alpha's time between two commits.
  BisectionRequest request(std::size_t start, std::size_t end) const;

  CommitSha const& sha(std::size_t commit) const { return trunk.commit(commit); }

  MemoryFolder folder;
  boost::asio::io_context loop{1};
  TestClock clock;
  Trunk trunk;
  FakeFetcher index;
  builds::Fetcher* fetcher = &index;  ///< a real one, for whoever restarts with it
  FakeWorkers workers;
  config::Options options;
  report::OpenTransport open_transport;  ///< none: reports are files
  std::unique_ptr<Parts> parts;

 private:
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
  void live_until(std::string const& date);
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
