#pragma once

#include "config/options.h"
#include "config/rule.h"

/// The description of the configuration file: key, purpose and allowed values of each field. The
/// reader, `config show` and the JSON Schema are visitors of it, so they always agree.
namespace torchwatch::config {

template <class Visitor>
void describe(Visitor& visit, FeedOptions& feed) {
  visit("kind",
        feed.kind,
        plain("Source of nightlies: a directory of builds, a git repository, or PyTorch's "
              "published wheels or LibTorch archives"));
  visit("path",
        feed.path,
        naming("The directory or the git repository; empty for published files", Form::directory));
  visit("branch",
        feed.branch,
        needed(matching("Branch with one commit for each nightly, in path, or in source.repository "
                        "for published files",
                        branch_word)));
  visit("url", feed.url, needed(matching("Root of the server with the published files", web_root)));
  visit("channel",
        feed.channel,
        needed(matching("Variant of the published files: cpu, cu130", benchmark_word)));
  visit("python",
        feed.python,
        matching("Python tag of the wheels; empty: the newest", benchmark_word));
  visit(
      "python_wait_s",
      feed.python_wait,
      range("Time to wait for a wheel of the same Python version before a wheel of another is used",
            0,
            604800));
  visit("abi",
        feed.abi,
        matching("ABI tag of the wheels; empty: that of a standard Python", benchmark_word));
  visit("machine",
        feed.machine,
        matching("End of the platform tag of the wheels; empty: this host's machine",
                 benchmark_word));
  visit("hosts",
        feed.hosts,
        matching("Hosts that files may come from, in addition to the host of url", host_word));
  visit("ca_file",
        feed.ca_file,
        naming("PEM file of the trusted certificates; empty: those of the system", Form::file));
  visit("overdue_s",
        feed.overdue,
        range("Time since the newest nightly after which one is missing; 0: never", 0, 31536000));
  visit("stale_days",
        feed.stale_days,
        range("Age of the newest nightly after which the feed is reported as stale; 0: never",
              0,
              3650));
  visit("unjudged_days",
        feed.unjudged_days,
        range("Days without a measured and judged nightly after which that is reported; 0: never",
              0,
              3650));
  visit("poll_s", feed.poll, range("Pause between two reads of the feed", 1, 86400));
  visit("backlog",
        feed.backlog,
        range("Number of newest nightlies that a new database starts with", 1, 1000));
}

template <class Visitor>
void describe(Visitor& visit, SourceOptions& source) {
  visit("repository",
        source.repository,
        naming("Git repository of the watched project; empty: bisections measure only nightlies",
               Form::directory));
  visit("remote",
        source.remote,
        matching("Remote of the repository from which new commits are fetched; empty: they are not "
                 "fetched",
                 remote_word));
  visit("recipe",
        source.recipe,
        naming("Program that builds a commit, called as RECIPE SOURCE_DIRECTORY PREFIX; exit "
               "statuses as for git bisect run",
               Form::executable));
  visit("artifacts",
        source.artifacts,
        matching("Directory, or URL of an archive, with the finished build of a commit; contains "
                 "{commit}; tried before the recipe",
                 commit_place));
  visit("artifacts_sha256",
        source.artifacts_sha256,
        matching("Path or URL of the file with the SHA-256 of such an archive; contains {commit}; "
                 "empty: ARCHIVE.sha256, if it exists",
                 commit_place));
  visit(
      "timeout_s", source.timeout, range("Longest time of a build before it is killed", 1, 604800));
  visit("builds", source.builds, range("Number of recipes that run at the same time", 1, 64));
  visit(
      "cores", source.cores, range("Number of processors that all recipes share; 0: all", 0, 4096));
  visit("isolation",
        source.isolation,
        plain("best: recipes and compilers run only in sandboxes; none: without sandboxes"));
  visit("writable",
        source.writable,
        naming("Directories that recipes may write to, in addition to the user's caches",
               Form::path));
  visit("readable",
        source.readable,
        naming("Directories below /tmp or /run that recipes may read; all others there are hidden",
               Form::path));
  visit("environment",
        source.environment,
        matching("More environment variables for recipes; NAME* for all with this prefix",
                 variable_word));
}

template <class Visitor>
void describe(Visitor& visit, BuildsOptions& builds) {
  visit("quota_mib",
        builds.quota_mib,
        range("Most disk space for all builds together; 0: no limit", 0, 1L << 40));
  visit("keep_free_mib",
        builds.keep_free_mib,
        range("Disk space that stays free on the disk with the builds", 0, 1L << 40));
  visit("incident_days",
        builds.incident_days,
        range("Days for which the builds of an incident without a ruling are kept", 0, 36500));
  visit("python",
        builds.python,
        naming("Python interpreter that compiles the bytecode of wheels once; empty: python3 from "
               "PATH",
               Form::executable));
}

template <class Visitor>
void describe(Visitor& visit, StoreOptions& store) {
  visit("raw_nights",
        store.raw_nights,
        range("Number of nightlies of which all raw samples are kept; older nightlies keep their "
              "summaries",
              30,
              36500));
}

template <class Visitor>
void describe(Visitor& visit, FleetOptions& fleet) {
  visit("name", fleet.name, needed(matching("Unique name", fleet_word)));
  visit("device", fleet.device, plain("Device on which its hosts measure"));
  visit("slots",
        fleet.slots,
        range("Number of runners at the same time; more than one needs a launcher or devices",
              1,
              1000));
  visit("devices",
        fleet.devices,
        distinct(
            matching("GPUs of the slots, one for each slot; all: the GPUs of the host", gpu_word)));
  visit("beside_others",
        fleet.beside_others,
        plain("Measure also while a fleet for the other device, cpu or cuda, measures on the same "
              "host"));
  visit("before_round",
        fleet.before_round,
        plain("Command to run before each round, for example to lock a GPU's clocks"));
  visit("after_round", fleet.after_round, plain("Command to run after each round"));
  visit("launcher",
        fleet.launcher,
        plain("Command prefix that starts the runner on another host; empty: this host"));
  visit("idle_s",
        fleet.idle,
        range("Time after which an unused slot ends its runner and gives its host back; 0: never",
              0,
              604800));
  visit("queue_s",
        fleet.queue,
        range("Longest wait of a runner in the queue of the launcher's scheduler", 1, 604800));
  visit("isolation",
        fleet.isolation,
        plain("best: workers run only in sandboxes; none: without sandboxes"));
  visit("network", fleet.network, plain("Workers have network access in their sandbox"));
  visit("readable",
        fleet.readable,
        matching("Directories that workers may read, in addition to builds", absolute_path));
  visit("environment",
        fleet.environment,
        matching("More environment variables for workers; NAME* for all with this prefix",
                 variable_word));
  visit("suites",
        fleet.suites,
        distinct(matching("Suites that its hosts run; empty: all", benchmark_word)));
  visit("formerly",
        fleet.formerly,
        distinct(matching("Earlier names of the fleet, whose history and rulings it takes over",
                          fleet_word)));
}

template <class Visitor>
void describe(Visitor& visit, SuiteBasics& suite) {
  visit("models",
        suite.models,
        distinct(needed(matching("Models by their TorchBench names; all: every model of the suite",
                                 benchmark_word))));
  visit("tests", suite.tests, distinct(needed(matching("Tests of each model", test_word))));
  visit("backend", suite.backend, needed(matching("Backend that runs the models", benchmark_word)));
  visit("files",
        suite.files,
        naming("Directory on the measuring hosts with the models of the backends script and aoti",
               Form::path));
  visit("precision",
        suite.precision,
        plain("Precision of floating-point numbers; amp: automatic mixed precision"));
  visit("tf32",
        suite.tf32,
        plain("on: CUDA may round the factors of fp32 products to ten bits (TF32); default: "
              "PyTorch's setting"));
  visit("scale", suite.scale, plain("full: published sizes; smoke: small batches and depth"));
}

template <class Visitor>
void describe(Visitor& visit, MetricOptions& metric) {
  visit("unit",
        metric.unit,
        matching("Unit of its values, for example ms, bytes or 1/s; empty only for metrics of the "
                 "native suite",
                 unit_word));
  visit("better", metric.better, plain("Direction in which values get better"));
  visit("kind",
        metric.kind,
        plain("noisy: one value for each run; exact: two processes of one build report the same"));
  visit("threshold",
        metric.threshold,
        range("Smallest relative change that is reported; 0: decide.threshold", 0, 1));
  visit("floor", metric.floor, range("Smaller changes never count, in the unit", 0, largest));
}

template <class Visitor>
void describe(Visitor& visit, SuiteOptions& suite) {
  visit("name",
        suite.name,
        needed(matching("Unique name; native: the suite in the program", benchmark_word)));
  visit("worker",
        suite.worker,
        naming(
            "Executable that implements the worker's protocol; empty: the suite is native or has a "
            "command",
            Form::executable));
  visit("command",
        suite.command,
        plain("Command that measures one benchmark and prints a JSON object per run; {model}, "
              "{test}, {backend}, {device} and {prefix} are replaced"));
  visit("waits", suite.waits, plain("The command reads a line before each run"));
  visit("needs",
        suite.needs,
        plain("Part of a build that it needs: the C++ libraries, or the Python package"));
  describe(visit, static_cast<SuiteBasics&>(suite));
  visit("backends",
        suite.backends,
        distinct(matching("Backends of each model; empty: backend", benchmark_word)));
  visit("environment",
        suite.environment,
        matching("Environment variables for its processes", variable));
  visit("readable",
        suite.readable,
        naming("Files and directories that its processes may read, in addition to builds",
               Form::path));
  visit("caches",
        suite.caches,
        distinct(matching("Environment variables that name compile caches; each build has its own "
                          "caches, filled before it is measured",
                          variable)));
  visit("metrics",
        suite.metrics,
        matching("Metrics that each process must report; empty: those of the native suite",
                 metric_word));
}

template <class Visitor>
void describe(Visitor& visit, MeasureOptions& measure) {
  visit("runs", measure.runs, range("Number of timed runs; their median is the result", 1, 10000));
  visit("warmup",
        measure.warmup,
        range("Number of consecutive runs without a faster one that end the warm-up", 1, 10000));
  visit("min_run_ms",
        measure.min_run,
        range("Shortest run; a run repeats the iteration until it lasts this long", 0, 60000));
  visit("threads", measure.threads, range("Number of intra-operator threads", 1, 1024));
  visit("pin", measure.pin, plain("Run each CPU worker on its own processors"));
  visit("leak_iterations",
        measure.leak_iterations,
        range("Number of iterations from which the leak per iteration is computed", 8, 100000));
  visit("seed", measure.seed, range("Seed of weights and inputs", 0, largest));
  visit("profile_nights",
        measure.profile_nights,
        range("Number of nightlies from one profile of the suite on GPUs to the next; 0: never",
              0,
              365));
  visit("timeout_s",
        measure.timeout,
        range("Longest run time of a worker before it is killed", 1, 86400));
  visit("memory_mib",
        measure.memory_mib,
        range("Most resident memory of a worker before it is killed", 64, 1 << 24));
  visit("attempts",
        measure.attempts,
        range("Number of processes that are tried before a job fails", 1, 100));
  visit("worker",
        measure.worker,
        naming("Worker executable; empty: torchwatch-worker next to torchwatch", Form::executable));
}

template <class Visitor>
void describe(Visitor& visit, DecideOptions& decide) {
  visit(
      "threshold", decide.threshold, range("Smallest relative change that is reported", 0.001, 1));
  visit(
      "error",
      decide.error,
      range(
          "Highest probability that a comparison reports a change where there is none", 1e-9, 0.5));
  visit("miss",
        decide.miss,
        range("Highest probability that a comparison misses a change of the threshold or more",
              1e-9,
              0.5));
  visit(
      "false_discovery",
      decide.false_discovery,
      range(
          "Highest expected share of false alarms among the regressions of a nightly", 1e-6, 0.5));
  visit("aa_benchmarks",
        decide.aa_benchmarks,
        range("Number of benchmarks per nightly that are compared with themselves", 0, 1000));
  visit(
      "aa_rebuilds",
      decide.aa_rebuilds,
      range(
          "Number of benchmarks per nightly that compare two builds of its commit, in two layouts",
          0,
          1000));
  visit(
      "anchor_nights",
      decide.anchor_nights,
      range(
          "Number of nightlies in which each benchmark is compared once with its anchor; 0: never",
          0,
          365));
  visit("return_nights",
        decide.return_nights,
        range("Number of judged nightlies after a fix in which the same regression returns to its "
              "incident",
              0,
              1000));
  visit("stale_nights",
        decide.stale_nights,
        range("Number of judged nightlies without a measurement of a series after which its "
              "incident is stale",
              1,
              1000));
  visit("sweep_pairs",
        decide.sweep_pairs,
        range("Pairs of processes per benchmark in the sweep", 1, 1000));
  visit("min_pairs",
        decide.min_pairs,
        range("Pairs of processes before the first decision on a noisy metric", 2, 1000));
  visit("max_pairs",
        decide.max_pairs,
        range("Pairs of processes after which a comparison ends as inconclusive", 2, 10000));
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
  visit("prior",
        bisect.prior,
        plain("Weights of the commits at the start; uniform: all equal; paths: less for commits "
              "that changed only files that benchmarks hardly use"));
  visit("confidence",
        bisect.confidence,
        range("Probability at which a bisection accepts its answer", 0.5, 0.9999));
  visit("max_readings",
        bisect.max_readings,
        range("Processes per series after which a bisection ends as undecided", 4, 100000));
  visit("layouts",
        bisect.layouts,
        range("Number of layouts in which a suspect must differ from its parent, if the recipe "
              "supports layouts",
              1,
              2));
}

template <class Visitor>
void describe(Visitor& visit, GithubAppOptions& app) {
  visit("client_id",
        app.client_id,
        matching("Client ID of the GitHub App; empty: a token is used", benchmark_word));
  visit("private_key_file",
        app.private_key_file,
        naming("PEM file with the private key of the App; empty: systemd's credential "
               "github-app-key",
               Form::file));
  visit("installation_id",
        app.installation_id,
        range("Number of the App's installation; 0: that of the repository", 0, largest));
}

template <class Visitor>
void describe(Visitor& visit, GithubOptions& github) {
  visit("repository",
        github.repository,
        matching("owner/name; empty: Markdown files instead of issues", owner_and_name));
  visit("api", github.api, needed(matching("Root of GitHub's REST API", https_root)));
  visit("token_file",
        github.token_file,
        naming("File with the token; overrides token_env", Form::file));
  visit("token_env",
        github.token_env,
        needed(matching("Environment variable with the token; if it is not set, systemd's "
                        "credential github-token is used",
                        variable)));
  visit("app", github.app, plain("GitHub App that files issues, in place of a token"));
  visit("ca_file",
        github.ca_file,
        naming("PEM file of the trusted certificates; empty: those of the system", Form::file));
  visit("labels", github.labels, distinct(plain("Labels of each issue")));
  visit("false_alarm_label",
        github.false_alarm_label,
        plain("Label by which a maintainer marks an issue as a false alarm; empty: labels are not "
              "read"));
  visit("timeout_s", github.timeout, range("Time limit of one request", 1, 3600));
}

template <class Visitor>
void describe(Visitor& visit, WebhookOptions& webhook) {
  visit("url",
        webhook.url,
        matching("Address for POST requests with JSON bodies; empty: no webhook", https_address));
  visit("secret_file",
        webhook.secret_file,
        naming("File with the secret that signs each body; needed with url", Form::file));
  visit("timeout_s", webhook.timeout, range("Time limit of one request", 1, 3600));
}

template <class Visitor>
void describe(Visitor& visit, EmailOptions& email) {
  visit("to",
        email.to,
        distinct(matching("Addresses of the receivers; empty: no emails", email_address)));
  visit("from", email.from, matching("Address of the sender; needed with to", email_address));
  visit("sendmail",
        email.sendmail,
        needed(naming("Program that sends a message as sendmail does", Form::path)));
}

template <class Visitor>
void describe(Visitor& visit, PublishOptions& publish) {
  visit("webhook", publish.webhook, plain("Web address that gets each change of an incident"));
  visit("email", publish.email, plain("Emails about each change of an incident"));
  visit("pull_request_comment",
        publish.pull_request_comment,
        plain("Comment once on the pull request of a proved culprit; needs github.repository"));
}

template <class Visitor>
void describe(Visitor& visit, TlsOptions& tls) {
  visit("certificate",
        tls.certificate,
        naming("PEM file with the service's certificate and its chain; empty: plain HTTP",
               Form::file));
  visit("key",
        tls.key,
        naming("PEM file with the private key of the certificate, without a password", Form::file));
}

template <class Visitor>
void describe(Visitor& visit, HttpOptions& http) {
  visit("address",
        http.address,
        needed(naming("Address to listen on: a numeric address, or unix:/PATH", Form::address)));
  visit("port",
        http.port,
        range("Port to listen on; 0: any free port; not used for a Unix socket", 0, 65535));
  visit("tls", http.tls, plain("HTTPS; renewed files are used without a restart"));
  visit(
      "insecure", http.insecure, plain("Also serve other machines without tls or read_token_file"));
  visit("token_file",
        http.token_file,
        naming(
            "File with the bearer token for requests that change something; empty: they are denied",
            Form::file));
  visit("read_token_file",
        http.read_token_file,
        naming("File with the bearer token for reading; empty: all clients may read", Form::file));
  visit("hosts",
        http.hosts,
        matching("Host names of the service, in addition to its addresses, localhost and the "
                 "machine's name",
                 host_word));
}

template <class Visitor>
void describe(Visitor& visit, ProxyOptions& proxy) {
  visit("url",
        proxy.url,
        matching("HTTP proxy for downloads, git and GitHub; empty: https_proxy and similar "
                 "variables decide",
                 proxy_root));
  visit("except",
        proxy.except,
        matching("Hosts that are reached without the proxy, also their subdomains; * for all",
                 except_word));
}

template <class Visitor>
void describe(Visitor& visit, LogOptions& log) {
  visit("level", log.level, plain("Lowest severity that is logged"));
}

template <class Visitor>
void describe(Visitor& visit, Options& options) {
  visit("state_dir",
        options.state_dir,
        needed(naming("Directory of the database, builds, logs and reports", Form::path)));
  visit("feed", options.feed, plain("Source of nightlies"));
  visit("source", options.source, plain("How commits are built"));
  visit("builds", options.builds, plain("Disk space and lifetime of builds"));
  visit("store", options.store, plain("Lifetime of raw samples"));
  visit("fleets", options.fleets, filled("Fleets of hosts that measure builds"));
  visit("suite", static_cast<SuiteBasics&>(options.suite), plain("Benchmarks that are measured"));
  visit("suites",
        options.suites,
        plain("Suites in addition to suite; one with the name native replaces suite"));
  visit("measure", options.measure, plain("Settings of each measuring process"));
  visit("decide", options.decide, plain("Rules for verdicts"));
  visit("bisect", options.bisect, plain("Settings of bisections"));
  visit("github", options.github, plain("GitHub repository and access for reports"));
  visit("publish",
        options.publish,
        plain("Other places for reports, and for each change of an incident"));
  visit("http", options.http, plain("HTTP address and access of the service"));
  visit("proxy", options.proxy, plain("Proxy for requests to other hosts"));
  visit("log", options.log, plain("Log of the service"));
}

}  // namespace torchwatch::config
