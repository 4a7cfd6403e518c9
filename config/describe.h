#pragma once

#include "config/options.h"
#include "config/rule.h"

/// The one description of the configuration file: which key holds which field, what it is for and
/// what it may be. Reading, showing and the JSON Schema are visitors of it, so they cannot
/// disagree.
namespace torchwatch::config {

template <class Visitor>
void describe(Visitor& visit, FeedOptions& feed) {
  visit("kind",
        feed.kind,
        plain("Where nightlies come from: a directory of builds, a git repository, or PyTorch's "
              "published wheels or LibTorch archives"));
  visit(
      "path",
      feed.path,
      naming("The directory, or the git repository; empty for what is published", Form::directory));
  visit("branch",
        feed.branch,
        needed(matching("Branch that gets a commit a nightly, of path or else of source.repository",
                        branch_word)));
  visit("url", feed.url, needed(matching("Host of what is published", web_root)));
  visit("channel",
        feed.channel,
        needed(matching("Which of what is published: cpu, cu130", benchmark_word)));
  visit("python", feed.python, matching("Python tag of wheels; empty: the newest", benchmark_word));
  visit("python_wait_s",
        feed.python_wait,
        range("Time to wait for a wheel of the Python that is followed before another is taken",
              0,
              604800));
  visit(
      "abi", feed.abi, matching("ABI tag of wheels; empty: an ordinary Python's", benchmark_word));
  visit("machine",
        feed.machine,
        matching("What the platform of wheels ends with; empty: this host's", benchmark_word));
  visit("hosts", feed.hosts, matching("Hosts that files may come from besides url's", host_word));
  visit("ca_file",
        feed.ca_file,
        naming("Certificates to trust instead of the system's, PEM", Form::file));
  visit("overdue_s", feed.overdue, range("Time after which a nightly is missing", 0, 31536000));
  visit("stale_days",
        feed.stale_days,
        range("Age of the newest nightly after which the feed counts as dead; 0: never", 0, 3650));
  visit("poll_s", feed.poll, range("Pause between two looks", 1, 86400));
  visit("backlog",
        feed.backlog,
        range("How many of the newest nightlies a fresh database takes", 1, 1000));
}

template <class Visitor>
void describe(Visitor& visit, SourceOptions& source) {
  visit("repository",
        source.repository,
        naming("Git repository of the watched project; empty: only nightlies are bisected",
               Form::directory));
  visit("remote",
        source.remote,
        matching("Remote of repository to fetch new commits from; empty: they are not fetched",
                 remote_word));
  visit("recipe",
        source.recipe,
        naming("Builds a commit: RECIPE SOURCE_DIRECTORY PREFIX, exit statuses of git bisect run",
               Form::executable));
  visit(
      "artifacts",
      source.artifacts,
      matching("Directory, or URL of an archive, of a commit's ready build, {commit} in its name; "
               "tried before the recipe",
               commit_place));
  visit(
      "artifacts_sha256",
      source.artifacts_sha256,
      matching("File, by path or URL, with the SHA-256 that such an archive must have, {commit} in "
               "its name; empty: ARCHIVE.sha256, if it is there",
               commit_place));
  visit("timeout_s", source.timeout, range("A build that takes longer is killed", 1, 604800));
  visit("builds", source.builds, range("Recipes at a time", 1, 64));
  visit(
      "cores", source.cores, range("Processors that all recipes share; 0: all there are", 0, 4096));
  visit("isolation",
        source.isolation,
        plain("best: recipes and compilers run in sandboxes, or not at all; none: as they are"));
  visit("writable",
        source.writable,
        naming("Directories that recipes write to, beside the user's caches", Form::path));
  visit("readable",
        source.readable,
        naming("Directories below /tmp or /run that recipes read; others there they do not see",
               Form::path));
  visit("environment",
        source.environment,
        matching("Variables that recipes get; NAME* for all that begin so", variable_word));
}

template <class Visitor>
void describe(Visitor& visit, BuildsOptions& builds) {
  visit("quota_mib",
        builds.quota_mib,
        range("What all builds may take together; 0: any amount", 0, 1L << 40));
  visit("keep_free_mib",
        builds.keep_free_mib,
        range("What is left free of the disk that they lie on", 0, 1L << 40));
  visit("incident_days",
        builds.incident_days,
        range("Days that the builds of an incident without a ruling are kept", 0, 36500));
}

template <class Visitor>
void describe(Visitor& visit, StoreOptions& store) {
  visit("raw_nights",
        store.raw_nights,
        range("Nights of which every process is kept; of older ones what they came to", 30, 36500));
}

template <class Visitor>
void describe(Visitor& visit, FleetOptions& fleet) {
  visit("name", fleet.name, needed(matching("Unique name", fleet_word)));
  visit("device", fleet.device, plain("What its hosts measure on"));
  visit("slots",
        fleet.slots,
        range("Runners at a time; more than one needs a launcher or devices", 1, 1000));
  visit("devices",
        fleet.devices,
        distinct(matching("GPUs of the slots, one each; all: those of the host", gpu_word)));
  visit("beside_others",
        fleet.beside_others,
        plain("Measures while a fleet for the other kind of device does on its host"));
  visit("before_round",
        fleet.before_round,
        plain("Command to run before each round: to lock a GPU's clocks, say"));
  visit("after_round", fleet.after_round, plain("Command to run after each round"));
  visit("launcher", fleet.launcher, plain("Command prefix that starts the runner elsewhere"));
  visit("isolation",
        fleet.isolation,
        plain("best: workers run in sandboxes, or not at all; none: as they are"));
  visit("network", fleet.network, plain("Workers find a network in their sandbox"));
  visit("readable",
        fleet.readable,
        matching("Directories that workers may read, beside builds", absolute_path));
  visit("environment",
        fleet.environment,
        matching("Variables that workers get; NAME* for all that begin so", variable_word));
}

template <class Visitor>
void describe(Visitor& visit, SuiteOptions& suite) {
  visit(
      "models",
      suite.models,
      distinct(needed(matching("Models, by TorchBench's names; all: every one", benchmark_word))));
  visit("tests", suite.tests, distinct(filled("Tests of each model")));
  visit("backend", suite.backend, needed(matching("How models are run", benchmark_word)));
  visit("files",
        suite.files,
        naming("Directory of the models of other backends, on the measuring hosts", Form::path));
  visit("precision",
        suite.precision,
        plain("Precision of floating point numbers; amp: mixed automatically"));
  visit("tf32",
        suite.tf32,
        plain("Whether CUDA may round factors of fp32 products to ten bits; default: PyTorch's"));
  visit("scale", suite.scale, plain("full: published sizes; smoke: small batches and depth"));
}

template <class Visitor>
void describe(Visitor& visit, MeasureOptions& measure) {
  visit("runs", measure.runs, range("Timed runs, the median counts", 1, 10000));
  visit("warmup",
        measure.warmup,
        range("Runs in a row that get no faster before the first timed one", 1, 10000));
  visit("min_run_ms",
        measure.min_run,
        range("A run repeats the iteration until it lasts this long", 0, 60000));
  visit("threads", measure.threads, range("Intra-operator threads", 1, 1024));
  visit("pin", measure.pin, plain("Keep CPU workers on processors of their own"));
  visit("leak_iterations",
        measure.leak_iterations,
        range("Iterations over which the leak's slope is taken", 8, 100000));
  visit("seed", measure.seed, range("Seed of weights and inputs", 0, largest));
  visit("profile_nights",
        measure.profile_nights,
        range("Nights from one profile of a suite on GPUs to the next; 0: never", 0, 365));
  visit("timeout_s", measure.timeout, range("A worker that takes longer is killed", 1, 86400));
  visit("memory_mib",
        measure.memory_mib,
        range("A worker that holds more resident memory is killed", 64, 1 << 24));
  visit("attempts", measure.attempts, range("Processes tried before a job has failed", 1, 100));
  visit("worker",
        measure.worker,
        naming("Worker executable; empty: torchwatch-worker beside torchwatch", Form::executable));
}

template <class Visitor>
void describe(Visitor& visit, DecideOptions& decide) {
  visit("threshold", decide.threshold, range("Relative change that counts", 0.001, 1));
  visit("error",
        decide.error,
        range("Probability that a comparison reports a change where there is none", 1e-9, 0.5));
  visit("miss", decide.miss, range("Probability that a comparison misses a change", 1e-9, 0.5));
  visit("false_discovery",
        decide.false_discovery,
        range("Share of a night's regressions that may be false", 1e-6, 0.5));
  visit("aa_benchmarks",
        decide.aa_benchmarks,
        range("Benchmarks a night compared with themselves", 0, 1000));
  visit(
      "aa_rebuilds",
      decide.aa_rebuilds,
      range(
          "Benchmarks a night compared between two builds of the commit, in two layouts", 0, 1000));
  visit("anchor_nights",
        decide.anchor_nights,
        range("Nights in which each benchmark is once compared with its anchor; 0: never", 0, 365));
  visit("sweep_pairs",
        decide.sweep_pairs,
        range("Pairs of processes a benchmark in the sweep", 1, 1000));
  visit("min_pairs", decide.min_pairs, range("Pairs before the first look", 2, 1000));
  visit("max_pairs", decide.max_pairs, range("Pairs at which a comparison gives up", 2, 10000));
  visit("latency_floor_ms", decide.latency_floor_ms, range("Smaller changes never count", 0, 1e6));
  visit("memory_floor_bytes",
        decide.memory_floor_bytes,
        range("Smaller changes never count", 0, largest));
  visit("leak_floor_bytes",
        decide.leak_floor_bytes,
        range("Smaller changes never count", 0, largest));
}

template <class Visitor>
void describe(Visitor& visit, BisectOptions& bisect) {
  visit(
      "prior",
      bisect.prior,
      plain("Which commits are suspected first; uniform: all alike; paths: by what they touched"));
  visit("confidence",
        bisect.confidence,
        range("Probability at which an answer of a bisection counts", 0.5, 0.9999));
  visit("max_readings",
        bisect.max_readings,
        range("Processes per series at which a bisection gives up", 4, 100000));
  visit("layouts",
        bisect.layouts,
        range("Builds of a suspect and of its parent, each with another layout, that must show a "
              "change, where the recipe can make them",
              1,
              2));
}

template <class Visitor>
void describe(Visitor& visit, GithubOptions& github) {
  visit("repository",
        github.repository,
        matching("owner/name; empty: Markdown files instead of issues", owner_and_name));
  visit("api", github.api, needed(matching("Root of the REST API", https_root)));
  visit("token_file", github.token_file, naming("File that holds the token", Form::file));
  visit("token_env",
        github.token_env,
        needed(matching("Environment variable that holds the token otherwise", variable)));
  visit("ca_file",
        github.ca_file,
        naming("Certificates to trust instead of the system's, PEM", Form::file));
  visit("labels", github.labels, distinct(plain("Labels of every issue")));
  visit("false_alarm_label",
        github.false_alarm_label,
        plain("Label that marks an issue as a false alarm; empty: labels are not read"));
  visit("timeout_s", github.timeout, range("One request's limit", 1, 3600));
}

template <class Visitor>
void describe(Visitor& visit, TlsOptions& tls) {
  visit("certificate",
        tls.certificate,
        naming("The service's certificate and those above it, PEM; empty: plain HTTP", Form::file));
  visit("key", tls.key, naming("The certificate's private key, PEM, no password", Form::file));
}

template <class Visitor>
void describe(Visitor& visit, HttpOptions& http) {
  visit("address",
        http.address,
        needed(naming("Where to listen: a numeric address, or unix:/PATH", Form::address)));
  visit("port", http.port, range("0: any free one; of a Unix socket: none", 0, 65535));
  visit("tls", http.tls, plain("HTTPS; files that are renewed are taken without a restart"));
  visit("insecure",
        http.insecure,
        plain("Answer other machines without tls or read_token_file, too"));
  visit("token_file",
        http.token_file,
        naming("File with the bearer token for changing requests; empty: they are refused",
               Form::file));
  visit("read_token_file",
        http.read_token_file,
        naming("File with the bearer token for reading; empty: everybody may", Form::file));
  visit("hosts",
        http.hosts,
        matching("Names of the service beside its addresses, localhost and the machine's own",
                 host_word));
}

template <class Visitor>
void describe(Visitor& visit, ProxyOptions& proxy) {
  visit("url",
        proxy.url,
        matching("HTTP proxy of downloads, git and GitHub; empty: https_proxy and such variables",
                 proxy_root));
  visit("except",
        proxy.except,
        matching("Hosts that are asked without it, and all below them; * for all", except_word));
}

template <class Visitor>
void describe(Visitor& visit, LogOptions& log) {
  visit("level", log.level, plain("Least severity that is logged"));
}

template <class Visitor>
void describe(Visitor& visit, Options& options) {
  visit("state_dir",
        options.state_dir,
        needed(naming("Database, builds, logs and reports live here", Form::path)));
  visit("feed", options.feed, plain("Where nightlies come from"));
  visit("source", options.source, plain("How commits are built"));
  visit("builds", options.builds, plain("How much is kept of what was fetched and built"));
  visit("store", options.store, plain("How much is kept of what was measured"));
  visit("fleets", options.fleets, filled("Where builds are measured"));
  visit("suite", options.suite, plain("What is measured"));
  visit("measure", options.measure, plain("How one process measures"));
  visit("decide", options.decide, plain("When a difference counts"));
  visit("bisect", options.bisect, plain("How bisections begin, and when they end"));
  visit("github", options.github, plain("Where incidents are published"));
  visit("http", options.http, plain("Where the service answers"));
  visit("proxy", options.proxy, plain("The way to hosts elsewhere"));
  visit("log", options.log, plain("What the service says"));
}

}  // namespace torchwatch::config
