#include "tests/fakes/memory/world.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <sqlite3.h>

#include "daemon/builds/recipe.h"
#include "storage/base/date.h"

namespace torchwatch::fakes {
namespace fs = std::filesystem;

namespace {

/// Makes SQLite keep its locks in the process. A world is used by one process, and the system calls
/// for locks between processes take a fifth of its time.
void lock_in_process() {
  ::sqlite3_vfs_register(::sqlite3_vfs_find("unix-excl"), 1);
}

/// Returns a database that is created once, because creating the schema takes most of a world's
/// time.
fs::path empty_database() {
  static MemoryFolder const folder;
  auto const file = folder.path() / "torchwatch.sqlite";
  if (fs::exists(file)) return file;
  lock_in_process();
  storage::Store::open(file).value();
  return file;
}

World::Moves moves_of(std::string model, Metric metric) {
  return [model = std::move(model), metric](Series const& series) {
    return series.metric == metric && series.benchmark.model == model;
  };
}

}  // namespace

MemoryFolder::MemoryFolder() {
  fs::path const memory = "/dev/shm";
  auto const parent = fs::is_directory(memory) ? memory : fs::temp_directory_path();
  auto name = (parent / "torchwatch-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

MemoryFolder::~MemoryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

FakeServices::FakeServices(config::Options const& options,
                           fs::path const& folder,
                           Clock const& clock)
    : store{storage::Store::open(folder / "torchwatch.sqlite").value()},
      build_store{options, store, clock},
      rounds{store, clock},
      builder{store, clock, build_store, folder / "state" / "builds"} {}

Parts::Parts(boost::asio::any_io_executor const& executor,
             config::Options const& options,
             fs::path const& folder,
             Clock const& clock,
             builds::Fetcher& fetcher,
             builds::Workers& workers,
             report::OpenTransport const& open_transport,
             github::Sleeper const& sleep)
    : FakeServices{options, folder, clock},
      service::ServiceParts{
          executor,
          options,
          {store, clock, build_store, rounds, builder, workers, fetcher, open_transport, sleep}} {}

World::World(std::size_t commits) : trunk{folder.path() / "trunk.git", commits} {
  fs::copy_file(empty_database(), folder.path() / "torchwatch.sqlite");
  options.state_dir = folder.path() / "state";
  options.feed.kind = config::FeedKind::git;
  options.feed.path = trunk.path();
  options.source.repository = trunk.path();
  options.source.recipe = "recipe";
  options.suite.models = {"alpha", "beta"};
  options.suite.tests = {Test::eval};
  options.builds.quota_mib = 0;
  options.builds.keep_free_mib = 0;
  options.decide.aa_benchmarks = 0;
  options.decide.anchor_nights = 0;
  restart();
}

void World::change(std::size_t commit, std::string model, double ratio, Metric metric) {
  change(commit, moves_of(std::move(model), metric), ratio);
}

void World::change(std::size_t commit, Moves moves, double ratio) {
  changes_.push_back({commit, std::move(moves), ratio});
}

fs::path World::deliver(std::string const& date, std::size_t commit, double ratio) {
  move_clock_to(date);
  auto const prefix = folder.path() / "delivered" / date;
  auto const build = FakeBuilder::deliver(prefix, sha(commit), date);
  delivered_[build.prefix] = ratio;
  watch(config::FeedKind::directory);
  options.feed.path = prefix.parent_path();
  return prefix;
}

/// Moves the clock to the morning of a nightly's day, because no nightly is published earlier.
void World::move_clock_to(std::string const& date) {
  constexpr std::chrono::hours in_the_morning{8};
  auto const day = day_of(date);
  if (day) clock.time = std::max(clock.time, Timestamp{*day + in_the_morning});
}

void World::change_layout(std::size_t commit, std::string model, double ratio) {
  change_layout(commit, moves_of(std::move(model), Metric::latency), ratio);
}

void World::change_layout(std::size_t commit, Moves moves, double ratio) {
  changes_.push_back({commit, std::move(moves), ratio, true});
  parts->builder.has_layouts = has_layouts_ = true;
}

void World::land(std::string message) {
  lab::Person const ada{"Ada Author", "ada@example.org", "ada"};
  lab::CommitText const text{std::move(message), ada, clock.time, ada, clock.time};
  trunk.land({text});
}

void World::land_revert_of(std::size_t commit) {
  auto const title = "Commit " + std::to_string(commit) + " (#" + std::to_string(1000 + commit);
  land("Revert \"" + title + ")\"\n\nThis reverts commit " + sha(commit).hex + ".\n");
}

CommitSha World::release(std::string const& date, std::size_t commit) {
  move_clock_to(date);
  auto const release = trunk.release(date, commit);
  releases_[release] = commit;
  return release;
}

FakeFetcher::File& World::publish(std::string const& date, std::size_t commit) {
  watch(config::FeedKind::libtorch);
  return publish_on(
      "/libtorch/nightly/cpu/", "libtorch-shared-with-deps-", "+cpu.zip", date, commit);
}

FakeFetcher::File& World::publish_wheel(std::string const& date,
                                        std::size_t commit,
                                        std::string const& python) {
  options.feed.channel = "cu130";
  watch(config::FeedKind::wheels);
  return publish_on("/whl/nightly/cu130/torch/",
                    "torch-",
                    "+cu130-" + python + "-" + python + "-manylinux_2_28_x86_64.whl",
                    date,
                    commit);
}

void World::watch(config::FeedKind kind) {
  if (options.feed.kind == kind) return;
  options.feed.kind = kind;
  options.feed.path.clear();
  restart();
}

FakeFetcher::File& World::publish_on(std::string const& page,
                                     std::string const& before,
                                     std::string const& after,
                                     std::string const& date,
                                     std::size_t commit) {
  auto const released = release(date, commit);
  auto compact = date;
  std::erase(compact, '-');
  auto const local = after.substr(0, after.find_first_of("-."));
  auto const version = "2.9.0.dev" + compact + local;
  auto const url = options.feed.url + page + before + "2.9.0.dev" + compact + after;
  return index.files[url] = {date, version, released, "\"" + released.hex.substr(0, 8) + "\""};
}

void World::restart() {
  parts.reset();
  parts = std::make_unique<Parts>(loop.get_executor(),
                                  options,
                                  folder.path(),
                                  clock,
                                  *fetcher,
                                  workers,
                                  open_transport,
                                  [this](std::chrono::seconds pause) { return wait(pause); });
  parts->builder.has_layouts = has_layouts_;
  parts->rounds.level = [this](Series const& series, Build const& build) {
    return level(series, build);
  };
}

boost::asio::awaitable<void> World::wait(std::chrono::seconds pause) {
  clock.time += pause;
  co_return;
}

/// Returns the number of a trunk commit, or of the trunk commit of a release.
std::size_t World::number_of(CommitSha const& commit) const {
  auto const released = releases_.find(commit);
  return released == releases_.end() ? trunk.number_of(commit) : released->second;
}

/// True when the build has the usual layout: packages, and builds that the store does not know.
bool World::has_usual_layout(Build const& build) const {
  auto const made = parts->store.builds().find_at(build.prefix);
  auto const recipe = made ? parts->store.recipes().find(made->recipe) : std::nullopt;
  return !recipe || builds::layout_in(recipe->contents) == 0;
}

double World::level(Series const& series, Build const& build) const {
  auto const& reverted = parts->builder.reverted;
  auto const revert = reverted.find(build.manifest.commit);
  bool const is_revert = revert != reverted.end();
  auto const at = number_of(is_revert ? revert->second.onto : build.manifest.commit);
  auto const without = is_revert ? trunk.number_of(revert->second.culprit) : trunk.size();
  double level = 1;
  for (auto const& change : changes_)
    if (change.commit <= at && change.commit != without && change.moves(series) &&
        (!change.is_layout || has_usual_layout(build)))
      level *= change.ratio;
  auto const package = delivered_.find(build.prefix);
  if (package != delivered_.end() && series.metric == Metric::latency) level *= package->second;
  return level;
}

std::vector<AlarmKind> World::alarms() {
  std::vector<AlarmKind> kinds;
  for (auto const& alarm : parts->store.alarms().open())
    kinds.push_back(alarm.kind);
  return kinds;
}

BisectionRequest World::request(std::size_t start, std::size_t end) const {
  BisectionRequest request;
  request.start = sha(start);
  request.end = sha(end);
  request.series = {series("alpha")};
  return request;
}

}  // namespace torchwatch::fakes
