#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

/// The subcommands of torchwatch. Each has a file, which adds it and its options to the command
/// line, and runs it. Results go to standard output, errors to standard error, one line each.
namespace torchwatch::cli {

/// The paths of this program and its configuration.
struct Invocation {
  std::string executable;   ///< starts runners
  std::string config_file;  ///< loaded, and named in messages
};

/// The exit statuses of `check`, and of `suite try`. Other commands use those that apply.
enum Status : int {
  nothing_found = 0,
  incident_found = 1,
  check_failed = 1,  ///< `suite try` found something wrong
  could_not_run = 2,
};

/// The function that runs the chosen subcommand. Returns the program's exit status.
using Chosen = std::function<int()>;

// Each adds a subcommand to `app`, which sets `chosen` when the user names it. `invocation` and
// `chosen` must outlive `app`.

void add_init(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_serve(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_check(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_runner(CLI::App& app, Chosen& chosen);
void add_bench(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_suite(CLI::App& app, Invocation const& invocation, Chosen& chosen);
/// Adds `try` to the command `suite`.
void add_suite_try(CLI::App& suite, Invocation const& invocation, Chosen& chosen);
void add_compare(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_bisect(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_bisections(CLI::App& app, Chosen& chosen);
void add_builds(CLI::App& app, Invocation const& invocation, Chosen& chosen);
/// Adds incidents, nightlies, alarms and series.
void add_records(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_rule(CLI::App& app, Invocation const& invocation, Chosen& chosen);
/// Adds backup and restore.
void add_backup(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_config(CLI::App& app, Invocation const& invocation, Chosen& chosen);

}  // namespace torchwatch::cli
