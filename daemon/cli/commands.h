#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

/// What a person may type: a file a subcommand, which adds it to the program's command line with
/// its flags beside what it does. Each prints its own errors, one line each, on standard error;
/// what it found goes to standard output.
namespace torchwatch::cli {

/// How torchwatch was called: its executable, for starting runners, and the file of the
/// configuration, for messages.
struct Invocation {
  std::string executable;
  std::string config_file;
};

/// The exit statuses of `check`, which the others share where they fit.
enum Status : int { nothing_found = 0, incident_found = 1, could_not_run = 2 };

/// What the subcommand that was typed does. Returns the program's exit status.
using Chosen = std::function<int()>;

// `invocation` and `chosen`, which the subcommand that is typed becomes, must outlive `app`.

void add_init(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_serve(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_check(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_runner(CLI::App& app, Chosen& chosen);
void add_bench(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_suite(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_compare(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_bisect(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_bisections(CLI::App& app, Chosen& chosen);
void add_builds(CLI::App& app, Invocation const& invocation, Chosen& chosen);
/// incidents, nightlies, alarms and series.
void add_records(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_rule(CLI::App& app, Invocation const& invocation, Chosen& chosen);
void add_config(CLI::App& app, Invocation const& invocation, Chosen& chosen);

}  // namespace torchwatch::cli
