#pragma once

#include <optional>
#include <string_view>

#include "config/options.h"

/// The one description of the configuration file: which key holds which field, what it is for and
/// what it may be. Reading, showing and the JSON Schema are visitors of it, so they cannot
/// disagree.
namespace torchwatch::config {

/// What a path must point at.
enum class PathTo { nothing, directory, file, executable };

/// What holds for a field beyond its type.
struct Rule {
  std::string_view doc;
  std::optional<double> minimum = std::nullopt;
  std::optional<double> maximum = std::nullopt;
  bool non_empty = false;  ///< a text or a list with something in it
  PathTo path = PathTo::nothing;
  std::string_view pattern = {};  ///< ECMAScript regular expression of a whole text
};

template <class Visitor>
void describe(Visitor& visit, FeedOptions& feed) {
  visit("kind", feed.kind, {.doc = "What path is: a directory of builds, or a git repository"});
  visit("path",
        feed.path,
        {.doc = "Where nightlies are looked for", .non_empty = true, .path = PathTo::directory});
  visit("branch", feed.branch, {.doc = "Branch of a git feed", .non_empty = true});
  visit("poll_s", feed.poll, {.doc = "Pause between two looks", .minimum = 1, .maximum = 86400});
  visit("backlog",
        feed.backlog,
        {.doc = "How many of the newest nightlies a fresh database takes",
         .minimum = 1,
         .maximum = 1000});
}

template <class Visitor>
void describe(Visitor& visit, SourceOptions& source) {
  visit("repository",
        source.repository,
        {.doc = "Git repository of the watched project; empty: no bisection",
         .path = PathTo::directory});
  visit("recipe",
        source.recipe,
        {.doc = "Builds a commit: RECIPE SOURCE_DIRECTORY PREFIX, exit statuses of git bisect run",
         .path = PathTo::executable});
  visit("timeout_s",
        source.timeout,
        {.doc = "A build that takes longer is killed", .minimum = 1, .maximum = 604800});
}

template <class Visitor>
void describe(Visitor& visit, FleetOptions& fleet) {
  visit("name", fleet.name, {.doc = "Unique name", .non_empty = true});
  visit("device", fleet.device, {.doc = "What its hosts measure on"});
  visit("slots", fleet.slots, {.doc = "Runners at a time", .minimum = 1, .maximum = 1000});
  visit("launcher", fleet.launcher, {.doc = "Command prefix that starts the runner elsewhere"});
}

template <class Visitor>
void describe(Visitor& visit, SuiteOptions& suite) {
  visit("models", suite.models, {.doc = "Models, by TorchBench's names", .non_empty = true});
  visit("tests", suite.tests, {.doc = "Tests of each model", .non_empty = true});
  visit("backend", suite.backend, {.doc = "How models are run", .non_empty = true});
  visit("scale", suite.scale, {.doc = "full: published sizes; smoke: small batches and depth"});
}

template <class Visitor>
void describe(Visitor& visit, MeasureOptions& measure) {
  visit("runs",
        measure.runs,
        {.doc = "Timed runs, the median counts", .minimum = 1, .maximum = 10000});
  visit("warmup",
        measure.warmup,
        {.doc = "Runs before the first timed one", .minimum = 0, .maximum = 10000});
  visit("min_run_ms",
        measure.min_run,
        {.doc = "A run repeats the iteration until it lasts this long",
         .minimum = 0,
         .maximum = 60000});
  visit(
      "threads", measure.threads, {.doc = "Intra-operator threads", .minimum = 1, .maximum = 1024});
  visit(
      "leak_iterations",
      measure.leak_iterations,
      {.doc = "Iterations over which the leak's slope is taken", .minimum = 3, .maximum = 100000});
  visit("seed", measure.seed, {.doc = "Of weights and inputs", .minimum = 0});
  visit("timeout_s",
        measure.timeout,
        {.doc = "A worker that takes longer is killed", .minimum = 1, .maximum = 86400});
  visit("memory_mib",
        measure.memory_mib,
        {.doc = "A worker that holds more resident memory is killed", .minimum = 64});
  visit("attempts",
        measure.attempts,
        {.doc = "Processes tried before a job has failed", .minimum = 1, .maximum = 100});
  visit("worker",
        measure.worker,
        {.doc = "Worker executable; empty: torchwatch-worker beside torchwatch",
         .path = PathTo::executable});
}

template <class Visitor>
void describe(Visitor& visit, DecideOptions& decide) {
  visit("threshold",
        decide.threshold,
        {.doc = "Relative change that counts", .minimum = 0.001, .maximum = 10});
  visit(
      "screen",
      decide.screen,
      {.doc = "Relative change of a sweep that is worth confirming", .minimum = 0, .maximum = 10});
  visit("error",
        decide.error,
        {.doc = "Probability that a comparison's interval ever misses the truth",
         .minimum = 1e-9,
         .maximum = 0.5});
  visit("sweep_processes",
        decide.sweep_processes,
        {.doc = "Processes of each build in the sweep", .minimum = 1, .maximum = 1000});
  visit("min_pairs",
        decide.min_pairs,
        {.doc = "Pairs before the first look", .minimum = 2, .maximum = 1000});
  visit("max_pairs",
        decide.max_pairs,
        {.doc = "Pairs at which a comparison gives up", .minimum = 2, .maximum = 10000});
  visit("latency_floor_ms",
        decide.latency_floor_ms,
        {.doc = "Smaller changes never count", .minimum = 0});
  visit("memory_floor_bytes",
        decide.memory_floor_bytes,
        {.doc = "Smaller changes never count", .minimum = 0});
  visit("leak_floor_bytes",
        decide.leak_floor_bytes,
        {.doc = "Smaller changes never count", .minimum = 0});
}

template <class Visitor>
void describe(Visitor& visit, GithubOptions& github) {
  visit("repository",
        github.repository,
        {.doc = "owner/name; empty: Markdown files instead of issues",
         .pattern = "([A-Za-z0-9-]+/[A-Za-z0-9._-]+)?"});
  visit("api",
        github.api,
        {.doc = "Root of the REST API", .pattern = "https://[^\\s/]+(/[^\\s]*[^\\s/])?"});
  visit(
      "token_file", github.token_file, {.doc = "File that holds the token", .path = PathTo::file});
  visit("token_env",
        github.token_env,
        {.doc = "Environment variable that holds the token otherwise", .non_empty = true});
  visit("ca_file",
        github.ca_file,
        {.doc = "Certificates to trust instead of the system's, PEM", .path = PathTo::file});
  visit("labels", github.labels, {.doc = "Put on every issue"});
  visit("timeout_s", github.timeout, {.doc = "One request's limit", .minimum = 1, .maximum = 3600});
}

template <class Visitor>
void describe(Visitor& visit, HttpOptions& http) {
  visit("address",
        http.address,
        {.doc = "Where to listen, a numeric IPv4 or IPv6 address",
         .pattern = "[0-9.]+|[0-9a-fA-F:.]+"});
  visit("port", http.port, {.doc = "0: any free one", .minimum = 0, .maximum = 65535});
  visit("token_file",
        http.token_file,
        {.doc = "File with the bearer token for changing requests; empty: they are refused",
         .path = PathTo::file});
}

template <class Visitor>
void describe(Visitor& visit, LogOptions& log) {
  visit("level", log.level, {.doc = "Least severity that is logged"});
}

template <class Visitor>
void describe(Visitor& visit, Options& options) {
  visit("state_dir",
        options.state_dir,
        {.doc = "Database, builds, logs and reports live here", .non_empty = true});
  visit("feed", options.feed, {.doc = "Where nightlies come from"});
  visit("source", options.source, {.doc = "How commits are built"});
  visit("fleets", options.fleets, {.doc = "Where builds are measured", .non_empty = true});
  visit("suite", options.suite, {.doc = "What is measured"});
  visit("measure", options.measure, {.doc = "How one process measures"});
  visit("decide", options.decide, {.doc = "When a difference is one"});
  visit("github", options.github, {.doc = "Where incidents are told"});
  visit("http", options.http, {.doc = "Where the service answers"});
  visit("log", options.log, {.doc = "What the service says"});
}

}  // namespace torchwatch::config
