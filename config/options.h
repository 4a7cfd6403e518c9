#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/domain/benchmark.h"
#include "storage/domain/bisection.h"

/// All options of the program, with unit, default and reason. A part gets its own struct and never
/// the whole configuration.
namespace torchwatch::config {

enum class FeedKind { directory, git, wheels, libtorch };

/// The source of new nightlies.
struct FeedOptions {
  FeedKind kind = FeedKind::directory;
  /// `directory`: a folder with one prefix, containing build.json, per nightly. `git`: a repository
  /// with a nightly branch. `wheels`, `libtorch`: empty; files that PyTorch publishes are
  /// downloaded.
  std::string path;
  /// The nightly branch of `path`, or of `source.repository` if nightlies are downloaded. Subjects
  /// of its commits name the trunk commits.
  std::string branch = "nightly";
  /// Root of PyTorch's wheels (below /whl/nightly) and LibTorch archives (/libtorch/nightly).
  std::string url = "https://download.pytorch.org";
  /// Variant of the wheels or archives: "cpu", "cu130".
  std::string channel = "cpu";
  /// Python tag of the wheels, "cp312". Empty: the newest at the first look, which is used from
  /// then on. The measured libraries are the same for all.
  std::string python;
  /// Time to wait for a nightly's wheel of this Python before the wheel of another one is used.
  /// PyTorch uploads the wheels one after the other, over a few hours.
  std::chrono::seconds python_wait{6 * 3600};
  /// ABI tag of the wheels, "cp313t"; empty: that of a standard Python.
  std::string abi;
  /// End of the wheels' platform tag, "x86_64"; empty: this host's machine.
  std::string machine;
  /// Hosts that links and redirects may lead to, in addition to the host of `url`.
  std::vector<std::string> hosts{
      "download-r2.pytorch.org", "pypi.nvidia.com", "files.pythonhosted.org"};
  /// PEM file of the trusted certificates; empty: those of the system.
  std::string ca_file;
  /// Pause between two reads of the feed. Nightlies appear once a day, so ten minutes are a short
  /// delay and a small load on the server.
  std::chrono::seconds poll{600};
  /// Time since the newest nightly after which one is missing; 0: never. Nightlies come once a day,
  /// sometimes late.
  std::chrono::seconds overdue{36 * 3600};
  /// Age of the newest nightly in days after which the feed is reported as stale; 0: never. The
  /// page of a channel stays when PyTorch stops building the channel.
  int stale_days = 10;
  /// Days without a nightly that was measured and judged after which that is an alarm, an issue and
  /// a message to each other destination; 0: never. Weekends without a usable build are normal.
  int unjudged_days = 5;
  /// Number of newest nightlies that a new database starts with. All of them would be a month of
  /// work.
  int backlog = 2;
};

/// The isolation of programs of others from the rest of the host. `best`: sandboxes as tight as the
/// host allows; programs do not run without one. `none`: no sandboxes.
enum class IsolationWish { best, none };

/// The ways to get the build of a commit.
struct SourceOptions {
  /// Git repository of the watched project. Empty: the commits between two nightlies are unknown,
  /// and none of them is built.
  std::string repository;
  /// Remote of `repository` from which new commits are fetched when needed. Empty: the operator
  /// updates the repository.
  std::string remote;
  /// Executable called as `RECIPE SOURCE_DIRECTORY PREFIX`, with the exit statuses of `git bisect
  /// run`. Empty: bisections end with a nightly and the commits that it brought.
  std::string recipe;
  /// Place of a commit's finished build: a directory with build.json, or the URL of an archive of
  /// one, with `{commit}` in its name. Tried once before the recipe runs. Without a recipe,
  /// failures other than 404 and 410 are retried for a day. Empty: no artifacts.
  std::string artifacts;
  /// Path or URL of the SHA-256 of such an archive, as `sha256sum` writes it, with `{commit}` in
  /// it. Archives without a SHA-256 are then rejected. Empty: ARCHIVE.sha256, next to the archive,
  /// is used if it exists; archives by http to another host are not allowed.
  std::string artifacts_sha256;
  /// Longest time of a build. Then it is killed and counts as failed.
  std::chrono::seconds timeout{4 * 3600};
  /// Number of recipes that run at the same time.
  int builds = 1;
  /// Number of processors that all recipes share; 0: all. Each recipe gets its share in
  /// TORCHWATCH_CORES.
  int cores = 0;
  /// Isolation of recipes, of git in their checkouts and of the compilation of workers.
  IsolationWish isolation = IsolationWish::best;
  /// Directories that recipes may write to, in addition to their own and the user's cache
  /// directory: other caches.
  std::vector<std::string> writable;
  /// Directories below /tmp or /run that recipes may read; all others there are hidden.
  std::vector<std::string> readable;
  /// More variables of the service for recipes, in addition to those that recipes and compilers are
  /// known to use. "NAME*": all with this prefix, except names that look like secrets.
  std::vector<std::string> environment;

  /// True when builds of commits are available. Otherwise bisections end with nightlies.
  bool has_builds_of_commits() const { return !recipe.empty() || !artifacts.empty(); }
};

/// The disk space and lifetime of downloaded and built builds.
struct BuildsOptions {
  /// Most disk space for all builds together; 0: no limit. The default holds months of CPU
  /// nightlies.
  std::int64_t quota_mib = 200L * 1024;
  /// Disk space that stays free, for the next download, its unpacked files and the database.
  std::int64_t keep_free_mib = 10L * 1024;
  /// Days for which the builds of an incident without a ruling are kept. An index lists sixty
  /// nightlies, so an older build can hardly be downloaded again. The last good builds of an
  /// unfinished incident are kept longer.
  int incident_days = 90;
  /// Python interpreter with which suites that need Python builds run. It compiles the bytecode of
  /// each published wheel once, when the wheel is unpacked. Empty: python3 from PATH.
  std::string python;
};

/// The lifetime of raw samples.
struct StoreOptions {
  /// Number of nightlies of which all processes and their samples are kept. Older nightlies keep
  /// their summaries: level, spread, verdict, build and host. Verdicts use the last twenty.
  int raw_nights = 90;
};

/// The word for all GPUs of a host.
inline constexpr auto all_devices = "all";

/// Interchangeable hosts or devices. Results are compared only within a fleet.
struct FleetOptions {
  std::string name = "local";
  Device device = Device::cpu;
  /// Number of runners at the same time. A host measures one job at a time on a device, so more
  /// than one needs a launcher that spreads the runners, or devices.
  int slots = 1;
  /// GPUs of the slots, in their order: indices in PCI bus order, UUIDs, or UUIDs of MIG instances.
  /// "all": on this host, one slot for each GPU; with a launcher, GPU 0 for the first slot, and so
  /// on. Empty: the first GPU of CUDA.
  std::vector<std::string> devices;
  /// True when it measures also while a fleet for the other device (cpu, cuda) measures on the same
  /// host. They disturb each other.
  bool beside_others = false;
  /// Commands that run on its hosts before and after each round, outside of sandboxes. Example:
  /// lock and unlock the clocks of the GPU in $CUDA_VISIBLE_DEVICES. If the first one fails, the
  /// round fails with `device`.
  std::vector<std::string> before_round;
  std::vector<std::string> after_round;
  /// Command prefix that starts the runner on another host: [] for this host, ["srun", ...],
  /// ["ssh", host].
  std::vector<std::string> launcher;
  /// The time after which an unused slot ends its runner, so that a scheduler can give its host or
  /// GPU to others. The next round starts it again. 0: runners stay.
  std::chrono::seconds idle{0};
  /// The longest wait of a runner in the queue of its launcher's scheduler (Slurm). Then the
  /// request is withdrawn, and the round moves to another slot.
  std::chrono::seconds queue{12 * 3600};
  /// Isolation of workers on the measuring hosts.
  IsolationWish isolation = IsolationWish::best;
  /// True when workers have network access in their sandbox.
  bool network = false;
  /// Directories that workers may read, in addition to their build, suite.files and those of the
  /// system.
  std::vector<std::string> readable;
  /// More variables of the runner for workers, in addition to the locale and variables that tune
  /// libraries. "NAME*": all with this prefix, except names that look like secrets.
  std::vector<std::string> environment;
  /// Names of the suites that its hosts run. Empty: all.
  std::vector<std::string> suites;
  /// Earlier names of the fleet. At the next start its history, incidents, rulings and alarms get
  /// the new name. Without it, a fleet with another name is a new fleet.
  std::vector<std::string> formerly;
};

enum class Scale { smoke, full };
/// The precision of floating-point numbers. `amp`: automatic mixed precision of LibTorch.
enum class Precision { fp32, fp16, bf16, amp };
/// Permission for CUDA to round the factors of fp32 products and convolutions to ten bits (TF32).
/// `as_pytorch`: PyTorch's default, which allows it for convolutions.
enum class Tf32 { as_pytorch, on, off };

/// The word for all models of the suite.
inline constexpr auto all_models = "all";

/// The name of the suite in the program, TorchBench's models in C++.
inline constexpr auto native_suite = "native";

/// The fields that every suite has: its benchmarks are models x tests x backends.
struct SuiteBasics {
  /// "all", or names from `torchwatch suite list`. Names of files for the backends script and aoti.
  /// Names that their worker or command knows, for other suites.
  std::vector<std::string> models{all_models};
  std::vector<Test> tests{Test::train, Test::eval};
  std::string backend = "eager";
  /// Directory on the measuring hosts with the models of the backends script and aoti: NAME.pt or
  /// NAME.pt2, with NAME.json next to it.
  std::string files;
  Precision precision = Precision::fp32;
  Tf32 tf32 = Tf32::as_pytorch;
  /// `full`: upstream's batch sizes. `smoke`: smaller batches and depth, the same operators.
  Scale scale = Scale::full;
};

/// The direction in which values of a metric get better.
enum class Better { lower, higher };

/// `noisy`: a process reports one value for each run. `exact`: two processes of one build report
/// the same value.
enum class MetricNoise { noisy, exact };

/// The declaration of a metric. A metric that the native suite also has takes its declaration from
/// there, so it needs no fields.
struct MetricOptions {
  std::string unit;  ///< "ms", "bytes", "1/s"
  Better better = Better::lower;
  MetricNoise kind = MetricNoise::noisy;
  double threshold = 0;  ///< smallest relative change that is reported; 0: decide.threshold
  double floor = 0;      ///< smaller changes never count, in the unit
  friend bool operator==(MetricOptions const&, MetricOptions const&) = default;
};

/// The parts of a build that a suite needs: the C++ libraries, or PyTorch's Python package.
enum class BuildNeeds { libtorch, python };

/// A suite: benchmarks that one program measures, and what it measures of them. The operator
/// declares it, because the program runs next to the build on trial and must not judge itself.
struct SuiteOptions : SuiteBasics {
  /// Unique name. It is the backend of a suite with a command.
  std::string name = native_suite;
  /// Executable that implements runner/protocol.h. Empty for the native suite,
  /// and for one with a command.
  std::string worker;
  /// Command that measures one benchmark and prints a JSON object per run. {model}, {test},
  /// {backend}, {device} and {prefix} are replaced in each of its words.
  std::vector<std::string> command;
  /// True when the command reads a line before each run, so that two processes can take turns.
  bool waits = false;
  BuildNeeds needs = BuildNeeds::libtorch;
  /// Backends of each model. Empty: `backend`.
  std::vector<std::string> backends;
  /// Variables for its processes, in addition to those of the build.
  std::map<std::string, std::string> environment;
  /// Files and directories that its processes may read, in addition to their build.
  std::vector<std::string> readable;
  /// Environment variables that name cache directories, such as TORCHINDUCTOR_CACHE_DIR. Each build
  /// has its own caches, which are filled before it is measured.
  std::vector<std::string> caches;
  /// The metrics by name. Each process must report all of them and no others. Empty: those of the
  /// native suite.
  std::map<std::string, MetricOptions> metrics;

  bool is_native() const { return name == native_suite; }
};

/// The settings of a process that measures one benchmark.
struct MeasureOptions {
  /// Number of timed runs. Their median is the result (TorchBench paper 2.2).
  int runs = 10;
  /// The warm-up ends after this number of consecutive runs without a faster one. The memory
  /// measurement warms up for this number of runs.
  int warmup = 3;
  /// Shortest run. A run repeats the iteration until it lasts this long, so the clock's resolution
  /// and scheduling do not matter.
  std::chrono::milliseconds min_run{20};
  /// Number of intra-operator threads. One is the most repeatable.
  int threads = 1;
  /// True when each process of a comparison on a CPU fleet runs on its own processors, one per
  /// thread. Other programs may still use these processors.
  bool pin = true;
  /// Number of iterations from which the leak per iteration is computed.
  int leak_iterations = 20;
  std::int64_t seed = 1337;
  /// Number of nightlies from one profile of the whole suite to the next, on GPU fleets; 0: never.
  /// The profile shows where the time of iterations goes. It takes one more process per benchmark
  /// and week.
  int profile_nights = 7;
  /// Longest run time of a worker. Then it is killed and its job fails.
  std::chrono::seconds timeout{600};
  /// Most resident memory of a worker's process group. Above it the worker is killed and its job
  /// fails.
  std::int64_t memory_mib = 20L * 1024;
  /// Number of processes that are tried before a job fails.
  int attempts = 3;
  /// Worker executable for builds without their own. Empty: torchwatch-worker next to this
  /// executable.
  std::string worker;
};

/// The rules for verdicts.
struct DecideOptions {
  /// Smallest relative change that is reported: the TorchBench paper's 7%.
  double threshold = 0.07;
  /// Highest probability that a comparison ever reports a regression where nothing changed; the
  /// same for an improvement. On the worst hosts it is three times as high.
  double error = 1e-4;
  /// Highest probability that a comparison ever reports `unchanged` for a change of the threshold
  /// or more.
  double miss = 0.01;
  /// Highest expected share of false alarms among the regressions of a nightly, for any number of
  /// series.
  double false_discovery = 0.05;
  /// Number of benchmarks of each fleet and nightly for which the build is also compared with
  /// itself. Any change found there is false, so this measures how often verdicts are false.
  int aa_benchmarks = 1;
  /// Number of benchmarks of each fleet and nightly without an incident that compare two builds of
  /// the nightly's commit, in two layouts. Bisections use the variation of builds. The default is
  /// none, because proofs measure it, too, and two builds a nightly are expensive. Needs a recipe
  /// that supports layouts.
  int aa_rebuilds = 0;
  /// Number of nightlies in which each benchmark is compared once with its anchor, so many small
  /// changes cannot add up unnoticed; 0: never. A week limits the delay and costs a seventh of the
  /// benchmarks per nightly.
  int anchor_nights = 7;
  /// Number of judged nightlies after a fix in which a series that regresses to the same level
  /// again returns to its incident. Later, it opens a new one.
  int return_nights = 30;
  /// Number of judged nightlies without a measurement of one of its series after which an incident
  /// is stale: its benchmark was removed, or fails.
  int stale_nights = 14;
  /// Pairs of processes per benchmark in the sweep: the new nightly next to its baseline.
  int sweep_pairs = 2;
  /// Pairs of processes before the first decision on a noisy metric, and the number after which a
  /// comparison ends as inconclusive.
  int min_pairs = 4;
  int max_pairs = 60;
  /// Smaller changes are not reported, for any ratio.
  double latency_floor_ms = 0.01;
  std::int64_t memory_floor_bytes = 1 << 20;
  std::int64_t leak_floor_bytes = 512;

  /// Fewest pairs with which a change of a noisy metric can be reported: the sign test gives this
  /// number of equal signs the probability `error`. Rounded down.
  int sign_test_pairs() const { return static_cast<int>(std::floor(-std::log2(error))); }
};

/// The settings of bisections.
struct BisectOptions {
  /// Weights of the commits at the start, for incidents and for requests that do not choose.
  /// `paths` uses PyTorch's directories: fewer builds if it is right, more measurements if it is
  /// wrong.
  Prior prior = Prior::uniform;
  /// Posterior probability at which a bisection accepts its answer.
  double confidence = 0.99;
  /// Processes per series after which a bisection ends as undecided, with its likeliest answer. A
  /// change of 7% with 5% noise takes about a hundred.
  int max_readings = 400;
  /// Number of layouts in which a lone suspect must differ from its parent, if the recipe supports
  /// layouts.
  int layouts = 2;
};

/// A GitHub App that files issues, in place of a user with a token.
struct GithubAppOptions {
  /// The App's client ID, or its numeric ID. Empty: there is no App.
  std::string client_id;
  /// PEM file with the App's private key; empty: systemd's credential "github-app-key". It is read
  /// for each token, so a new key needs no restart.
  std::string private_key_file;
  /// The App's installation; 0: GitHub is asked for that of the repository.
  std::int64_t installation_id = 0;

  bool is_on() const { return !client_id.empty(); }
};

/// The publishing of incidents. Without a repository, reports are Markdown files in the state
/// directory.
struct GithubOptions {
  /// "owner/name"; empty: Markdown files instead of issues.
  std::string repository;
  std::string api = "https://api.github.com";
  /// File with the token; overrides token_env.
  std::string token_file;
  /// Environment variable with the token. Without it, systemd's credential "github-token" is used.
  std::string token_env = "GITHUB_TOKEN";
  /// An App makes its own tokens, so token_file and token_env are not used.
  GithubAppOptions app;
  /// PEM file of the trusted certificates; empty: those of the system.
  std::string ca_file;
  std::vector<std::string> labels{"torchbench-perf-report"};
  /// Label by which a maintainer marks a report as a false alarm. It is stored as a ruling. Empty:
  /// labels are not read.
  std::string false_alarm_label = "false-alarm";
  /// Time limit of one request. GitHub itself gives up after 10 s.
  std::chrono::seconds timeout{30};
};

/// A web address that gets each change of an incident as a signed JSON object.
struct WebhookOptions {
  /// Address for POST requests. Empty: no webhook.
  std::string url;
  /// File with the secret of the signature: HMAC-SHA256 of the body, as GitHub signs its webhooks.
  std::string secret_file;
  /// Time limit of one request.
  std::chrono::seconds timeout{30};
};

/// The emails about incidents. The host's mail system delivers them.
struct EmailOptions {
  /// Addresses of the receivers. Empty: no emails.
  std::vector<std::string> to;
  /// Address of the sender.
  std::string from;
  /// Program that reads a message and its receivers' addresses as sendmail does.
  std::string sendmail = "/usr/sbin/sendmail";
};

/// The places where the life of an incident is published, in addition to `github` or the Markdown
/// files in the state directory.
struct PublishOptions {
  WebhookOptions webhook;
  EmailOptions email;
  /// True when the pull request of a proved culprit gets one comment. Needs github.repository,
  /// whose token must be allowed to comment there.
  bool pull_request_comment = false;
};

/// The PEM files for HTTPS: both, or none for plain HTTP. They are checked with each connection, so
/// a renewed certificate needs no restart.
struct TlsOptions {
  /// The service's certificate, followed by its chain up to one that clients trust.
  std::string certificate;
  /// The private key of the service's certificate, without a password.
  std::string key;

  bool is_on() const { return !certificate.empty() && !key.empty(); }
};

struct HttpOptions {
  /// Address to listen on: numeric, or "unix:/PATH" of a socket (address.h). The default is
  /// loopback. An address that other machines reach needs `tls` and `read_token_file`.
  std::string address = "127.0.0.1";
  /// Port to listen on. 0: any free port, which the log names. Not used for a Unix socket.
  std::uint16_t port = 8917;
  TlsOptions tls;
  /// True when the service may serve other machines without `tls` or `read_token_file`, because
  /// another system protects it, such as a proxy or a private network.
  bool insecure = false;
  /// File with the bearer token, 16 characters or more, for requests that change something. Empty:
  /// such requests are denied.
  std::string token_file;
  /// File with a bearer token for requests that read. Empty: all clients may read. /healthz,
  /// /readyz, the description of the API and pages without measurements need no token. The token of
  /// `token_file` also permits reading.
  std::string read_token_file;
  /// Host names by which clients call the service, in addition to its addresses, localhost and the
  /// machine's name. Requests for other names are rejected, because a web page could point its own
  /// name to this service (DNS rebinding).
  std::vector<std::string> hosts;
};

/// The proxy for requests to other hosts.
struct ProxyOptions {
  /// HTTP proxy for downloads, git, recipes and GitHub, "http://HOST:PORT". Empty: the variables
  /// https_proxy, http_proxy, all_proxy and no_proxy decide. A proxy with a password must be named
  /// there, because passwords do not belong in the configuration.
  std::string url;
  /// Hosts that are reached without the proxy: names with their subdomains, addresses, networks;
  /// "*": all.
  std::vector<std::string> except{"localhost", "127.0.0.1", "::1"};
};

enum class LogLevel { debug, info, warning, error };

struct LogOptions {
  LogLevel level = LogLevel::info;
};

/// The whole configuration file.
struct Options {
  /// Directory of the database, builds, logs and reports.
  std::string state_dir;
  FeedOptions feed;
  SourceOptions source;
  BuildsOptions builds;
  StoreOptions store;
  std::vector<FleetOptions> fleets{FleetOptions{}};
  /// The suite `native`. load() replaces it with the one of that name in `suites`, if there is one.
  SuiteOptions suite;
  /// Suites in addition to `suite`.
  std::vector<SuiteOptions> suites;
  MeasureOptions measure;
  DecideOptions decide;
  BisectOptions bisect;
  GithubOptions github;
  PublishOptions publish;
  HttpOptions http;
  ProxyOptions proxy;
  LogOptions log;
};

}  // namespace torchwatch::config
