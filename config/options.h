#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/domain/benchmark.h"
#include "storage/domain/bisection.h"

/// Every knob of the program: its unit, default and reason. Parts get their own struct, never the
/// whole.
namespace torchwatch::config {

enum class FeedKind { directory, git, wheels, libtorch };

/// Where new nightlies are looked for.
struct FeedOptions {
  FeedKind kind = FeedKind::directory;
  /// `directory`: a folder with one prefix (holding build.json) per nightly. `git`: a repository
  /// with a nightly branch. `wheels`, `libtorch`: empty, what PyTorch publishes is downloaded.
  std::string path;
  /// Of `path`, or, where nightlies are downloaded, of `source.repository`: its subjects tell the
  /// trunk commits.
  std::string branch = "nightly";
  /// Where PyTorch's wheels (below /whl/nightly) and LibTorch archives (/libtorch/nightly) lie.
  std::string url = "https://download.pytorch.org";
  /// Which of them: "cpu", "cu130".
  std::string channel = "cpu";
  /// Python tag of the wheels, "cp312"; empty: the newest that there is at the first look, which is
  /// followed from then on. The part that is measured is the same in all.
  std::string python;
  /// How long a nightly's wheel for the Python that is followed is waited for before another
  /// Python's is taken. Jobs upload one Python after the other, over a few hours.
  std::chrono::seconds python_wait{6 * 3600};
  /// ABI tag of the wheels, "cp313t"; empty: that of an ordinary Python.
  std::string abi;
  /// What the wheels' platform ends with, "x86_64"; empty: this host's.
  std::string machine;
  /// Hosts that files may come from besides that of `url`, by links or redirects.
  std::vector<std::string> hosts{
      "download-r2.pytorch.org", "pypi.nvidia.com", "files.pythonhosted.org"};
  /// Certificates to trust instead of the system's, PEM.
  std::string ca_file;
  /// Pause between two looks. Nightlies appear once a day; ten minutes bounds the delay without
  /// burdening anyone.
  std::chrono::seconds poll{600};
  /// Time since the newest nightly after which one is missing; 0: never. Nightlies come once a day,
  /// sometimes late.
  std::chrono::seconds overdue{36 * 3600};
  /// Days since the date of the newest nightly after which the feed counts as dead; 0: never. A
  /// channel that PyTorch stops to build keeps its page.
  int stale_days = 10;
  /// How many of the newest nightlies a fresh database takes, so that it does not start with a
  /// month of work.
  int backlog = 2;
};

/// Whether what others wrote is kept from the rest of the host. `best`: as well as the host can,
/// and not run at all where it cannot.
enum class IsolationWish { best, none };

/// How a commit becomes a build.
struct SourceOptions {
  /// Git repository of the watched project; empty: which commits lie between two nightlies is not
  /// known, and none can be built.
  std::string repository;
  /// Remote of `repository` that new commits are fetched from when they are needed; empty: somebody
  /// else does that.
  std::string remote;
  /// Executable called as `RECIPE SOURCE_DIRECTORY PREFIX`, with the exit statuses of `git bisect
  /// run`; empty: bisections end with a nightly and the commits that it brought.
  std::string recipe;
  /// Where a commit's build may be ready: a directory that holds build.json, or the URL of an
  /// archive of one, with `{commit}` in its name. Looked at before the recipe is run, once; where
  /// there is no recipe, what fails otherwise than by 404 or 410 is asked for again for a day.
  /// Empty: nowhere.
  std::string artifacts;
  /// Where the SHA-256 of such an archive is, as `sha256sum` writes it: a path or URL with
  /// `{commit}` in it. Archives without one are refused then. Empty: it is looked for beside the
  /// archive, in ARCHIVE.sha256, and may be missing, unless anybody could change the archive on its
  /// way (http).
  std::string artifacts_sha256;
  /// A build that takes longer is killed and counts as failed.
  std::chrono::seconds timeout{4 * 3600};
  /// Recipes at a time.
  int builds = 1;
  /// Processors that all of them share, 0: all there are; each finds its part in
  /// TORCHWATCH_CORES.
  int cores = 0;
  /// Of recipes, of git in their checkouts and of the compilation of workers.
  IsolationWish isolation = IsolationWish::best;
  /// Directories that recipes write to beside their own and the user's cache directory: other
  /// caches.
  std::vector<std::string> writable;
  /// Directories below /tmp or /run that recipes may read; of others there they see nothing.
  std::vector<std::string> readable;
  /// Variables of the service that recipes get beside those that they and compilers are known to go
  /// by; "NAME*" for all that begin so, but for what sounds like a secret.
  std::vector<std::string> environment;

  /// Whether commits can be built, or have been: otherwise bisections end with nightlies.
  bool has_builds_of_commits() const { return !recipe.empty() || !artifacts.empty(); }
};

/// What is kept of the builds that were fetched and made.
struct BuildsOptions {
  /// They take no more than this together, 0: whatever they take. Room for
  /// months of nightlies for CPUs.
  std::int64_t quota_mib = 200L * 1024;
  /// So much of the disk is left to others: the next download, its unpacked files and the database.
  std::int64_t keep_free_mib = 10L * 1024;
  /// How long the builds of an incident on which nobody ruled are kept. An index lists sixty
  /// nightlies, so what is removed later can hardly be fetched again.
  int incident_days = 90;
};

/// What is kept of what was measured.
struct StoreOptions {
  /// Nights of which every process and its samples are kept; of older ones stays what each came to:
  /// level, spread, verdict, build and host. Verdicts look back at twenty.
  int raw_nights = 90;
};

/// Stands for every GPU of a host.
inline constexpr auto all_devices = "all";

/// Interchangeable hosts or devices; results are compared only inside a fleet.
struct FleetOptions {
  std::string name = "local";
  Device device = Device::cpu;
  /// Runners at a time. A host measures one job at a time on a device, so more than one needs a
  /// launcher that spreads them, or devices.
  int slots = 1;
  /// GPUs of its slots, each the one at its place: indices in the order of their buses, UUIDs, or
  /// UUIDs of MIG instances. "all": on this host a slot for each that it has; behind a launcher the
  /// first slot has GPU 0, and so on. Empty: what CUDA has first.
  std::vector<std::string> devices;
  /// Whether it is measured while a fleet for the other kind of device is measured on the same
  /// host. Each disturbs the other.
  bool beside_others = false;
  /// Run on its hosts before and after each round, outside of sandboxes: to lock and unlock a GPU's
  /// clocks, say, which is $CUDA_VISIBLE_DEVICES. A round whose first command fails is a `device`
  /// failure.
  std::vector<std::string> before_round;
  std::vector<std::string> after_round;
  /// Command prefix that starts the runner elsewhere: [] for this host, ["srun", ...], ["ssh",
  /// host].
  std::vector<std::string> launcher;
  /// Of workers, on the hosts that they measure on.
  IsolationWish isolation = IsolationWish::best;
  /// Whether workers find a network in their sandbox.
  bool network = false;
  /// Directories that workers may read beside their build, suite.files and the system's.
  std::vector<std::string> readable;
  /// Variables of the runner that workers get beside the locale and those that libraries are tuned
  /// with; "NAME*" for all that begin so, but for what sounds like a secret.
  std::vector<std::string> environment;
};

enum class Scale { smoke, full };
/// What floating point numbers are made of; `amp`: LibTorch mixes precisions by itself.
enum class Precision { fp32, fp16, bf16, amp };
/// Whether CUDA may round the factors of fp32 products and convolutions to ten bits; `as_pytorch`:
/// where PyTorch lets it by itself, of convolutions.
enum class Tf32 { as_pytorch, on, off };

/// Stands for every model of the suite.
inline constexpr auto all_models = "all";

/// What is measured: models x tests on every fleet.
struct SuiteOptions {
  /// "all", or names of `torchwatch suite list`; names of files for backends that run files.
  std::vector<std::string> models{all_models};
  std::vector<Test> tests{Test::train, Test::eval};
  std::string backend = "eager";
  /// Directory, on the measuring hosts, of the models of the backends script and aoti: NAME.pt or
  /// NAME.pt2, and NAME.json beside it.
  std::string files;
  Precision precision = Precision::fp32;
  Tf32 tf32 = Tf32::as_pytorch;
  /// `full`: upstream's batch sizes. `smoke`: smaller batches and depth, the same operators.
  Scale scale = Scale::full;
};

/// How one process measures one benchmark.
struct MeasureOptions {
  /// Timed repetitions; the median is the result (TorchBench paper 2.2).
  int runs = 10;
  /// Warming up ends when so many repetitions in a row got no faster. The memory pass warms up for
  /// just as many.
  int warmup = 3;
  /// A run repeats the iteration until it lasts this long, so that the clock's grain and scheduling
  /// do not matter.
  std::chrono::milliseconds min_run{20};
  /// Intra-operator threads. One is the most repeatable.
  int threads = 1;
  /// Whether the processes of a comparison run on as many processors of their own as they have
  /// threads, on CPU fleets. Nobody else is kept off them.
  bool pin = true;
  /// Iterations over which the leak's slope is taken.
  int leak_iterations = 20;
  std::int64_t seed = 1337;
  /// Nights from one profile of the whole suite to the next, on fleets of GPUs: it shows where the
  /// time of iterations goes. 0: never. One more process a benchmark in a week.
  int profile_nights = 7;
  /// A worker that takes longer is killed; its job has failed.
  std::chrono::seconds timeout{600};
  /// A worker whose process group holds more resident memory is killed; its job has failed.
  std::int64_t memory_mib = 20L * 1024;
  /// Processes tried before a job counts as failed.
  int attempts = 3;
  /// Worker executable for builds that do not bring their own; empty: torchwatch-worker beside this
  /// executable.
  std::string worker;
};

/// When a difference counts.
struct DecideOptions {
  /// Relative change that counts: the paper's 7%.
  double threshold = 0.07;
  /// Probability that a comparison ever calls a regression what has not changed; the same of an
  /// improvement. Three times as much on the worst of hosts.
  double error = 1e-4;
  /// Probability that it ever calls unchanged what moved by the threshold or more.
  double miss = 0.01;
  /// Share of a night's alarms that may be expected to be false, whatever the number of series.
  double false_discovery = 0.05;
  /// Benchmarks of each fleet a night whose nightly build is also compared with itself: any change
  /// found there is a false alarm, so this measures how often there are some.
  int aa_benchmarks = 1;
  /// Benchmarks of each fleet a night without an incident, for which the nightly's commit is built
  /// twice, in two layouts, and compared: it tells searches by how much builds differ by
  /// themselves. Proofs tell that as well, and these are two more builds a night, so none. Takes a
  /// recipe that knows layouts.
  int aa_rebuilds = 0;
  /// Nights in which each benchmark is once compared with the nightly it is anchored to, so that
  /// many changes below the threshold do not add up unseen; 0: never. A week bounds how long it
  /// takes, and costs a seventh of the benchmarks a night.
  int anchor_nights = 7;
  /// Pairs of processes a benchmark in the sweep: the new nightly beside its baseline.
  int sweep_pairs = 2;
  /// Pairs of processes before the first look at a noisy metric, and at which a comparison gives
  /// up.
  int min_pairs = 4;
  int max_pairs = 60;
  /// Changes smaller than these never count, whatever their ratio.
  double latency_floor_ms = 0.01;
  std::int64_t memory_floor_bytes = 1 << 20;
  std::int64_t leak_floor_bytes = 512;

  /// Fewest pairs with which a change of a noisy metric is called: so many fair coins fall one way
  /// with probability `error` (sign test), rounded down.
  int sign_test_pairs() const { return static_cast<int>(std::floor(-std::log2(error))); }
};

/// How bisections begin, and when they end.
struct BisectOptions {
  /// Of bisections of incidents, and of those that do not say. `paths` knows PyTorch's tree: fewer
  /// builds where it is right, more readings where it is wrong.
  Prior prior = Prior::uniform;
  /// Probability, as the posterior states it, at which an answer counts.
  double confidence = 0.99;
  /// Processes a series after which the likeliest answer is given as undecided. A change of 7% at
  /// 5% noise takes about a hundred.
  int max_readings = 400;
  /// In how many layouts a lone suspect must show what it did, where the recipe knows layouts.
  int layouts = 2;
};

/// Where incidents are published. Without a repository they become Markdown files in the state
/// directory.
struct GithubOptions {
  /// "owner/name"; empty: files instead of issues.
  std::string repository;
  std::string api = "https://api.github.com";
  /// File that holds the token; wins over token_env.
  std::string token_file;
  /// Environment variable that holds the token.
  std::string token_env = "GITHUB_TOKEN";
  /// Certificates to trust instead of the system's, PEM.
  std::string ca_file;
  std::vector<std::string> labels{"torchbench-perf-report"};
  /// Whoever puts this label on a report calls it a false alarm, which is kept as a ruling; empty:
  /// labels are not read.
  std::string false_alarm_label = "false-alarm";
  /// One request's limit. GitHub gives up after 10 s itself.
  std::chrono::seconds timeout{30};
};

/// By what the service proves who it is, and keeps what is said to itself. Both files, PEM, or
/// none: plain HTTP. They are looked at again with each connection, so a renewed certificate needs
/// no restart.
struct TlsOptions {
  /// The service's certificate, and then those that lead to one that clients trust.
  std::string certificate;
  /// Of the first; without a password.
  std::string key;

  bool is_on() const { return !certificate.empty() && !key.empty(); }
};

struct HttpOptions {
  /// A numeric address, or "unix:/PATH" of a socket (address.h). Loopback unless somebody decides
  /// otherwise, who then needs `tls` and `read_token_file`.
  std::string address = "127.0.0.1";
  /// 0: any free port; the log says which. Of a Unix socket: none.
  std::uint16_t port = 8917;
  TlsOptions tls;
  /// Whether other machines may be answered without `tls` or without `read_token_file`: where
  /// something else keeps strangers and listeners away.
  bool insecure = false;
  /// File that holds the bearer token, 16 characters or more, for requests that change something;
  /// empty: such requests are refused.
  std::string token_file;
  /// File that holds such a token for requests that read; empty: everybody who reaches the
  /// address may. /healthz, /readyz, the API's description and pages, which hold nothing that was
  /// measured, are for everybody, and the other token reads, too.
  std::string read_token_file;
  /// Names by which clients call the service, beside its addresses, localhost and the machine's own
  /// name. Requests for any other are not answered: a page may have its name lead here.
  std::vector<std::string> hosts;
};

/// The way to hosts elsewhere, for networks that have none of their own.
struct ProxyOptions {
  /// HTTP proxy of everything that is fetched, of git, of recipes and of GitHub,
  /// "http://HOST:PORT". Empty: what the variables https_proxy, http_proxy, all_proxy and no_proxy
  /// say. A proxy that wants a password is named there: it does not belong into a configuration.
  std::string url;
  /// Whom to ask directly: names, which stand for all below them, too, addresses, networks; "*":
  /// everybody.
  std::vector<std::string> except{"localhost", "127.0.0.1", "::1"};
};

enum class LogLevel { debug, info, warning, error };

struct LogOptions {
  LogLevel level = LogLevel::info;
};

/// The whole configuration file.
struct Options {
  /// Database, builds, logs and reports live here.
  std::string state_dir;
  FeedOptions feed;
  SourceOptions source;
  BuildsOptions builds;
  StoreOptions store;
  std::vector<FleetOptions> fleets{FleetOptions{}};
  SuiteOptions suite;
  MeasureOptions measure;
  DecideOptions decide;
  BisectOptions bisect;
  GithubOptions github;
  HttpOptions http;
  ProxyOptions proxy;
  LogOptions log;
};

}  // namespace torchwatch::config
