#include "storage/backup.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "daemon/builds/pruning.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/terminal.h"
#include "daemon/service/open_store.h"
#include "daemon/service/restore_state.h"

namespace torchwatch::cli {
namespace {

using nlohmann::ordered_json;
using storage::IfExists;

/// The options of `backup` and `restore`.
struct BackupFlags {
  std::string file;
  std::string into;  ///< the state directory to restore; empty: the configured one
  bool force = false;
  bool as_json = false;

  IfExists if_exists() const { return force ? IfExists::replace : IfExists::refuse; }
};

ordered_json json_of(storage::Copy const& copy) {
  ordered_json json{{"file", copy.file.string()}, {"bytes", copy.bytes}};
  json["rows"] = ordered_json::object();
  for (auto const& [table, rows] : copy.counts)
    json["rows"][table] = rows;
  return json;
}

void print_copy(storage::Copy const& copy) {
  std::cout << copy.file.string() << ": " << builds::size_text(copy.bytes) << ", checked\n";
  std::vector<Row> rows{{"table", "rows"}};
  for (auto const& [table, count] : copy.counts)
    rows.push_back({table, std::to_string(count)});
  print_rows(rows);
}

int back_up(config::Options const& options, BackupFlags const& flags) {
  auto const copy = storage::back_up(service::store_file(options), flags.file, flags.if_exists());
  if (!copy) return complain("backup", copy.error().message);
  if (flags.as_json)
    std::cout << json_of(*copy).dump(2) << '\n';
  else
    print_copy(*copy);
  return 0;
}

int print_restored(service::RestoredState const& restored, bool as_json) {
  auto const& [database, replaced] = restored.store;
  if (as_json) {
    auto json = json_of(database);
    json["replaced"] = replaced.empty() ? ordered_json() : ordered_json(replaced.string());
    json["reports"] = restored.reports;
    std::cout << json.dump(2) << '\n';
    return 0;
  }
  print_copy(database);
  if (restored.reports > 0) std::cout << "reports written: " << restored.reports << '\n';
  if (!replaced.empty())
    std::cout << "the database that was there is now " << replaced.string() << '\n';
  return 0;
}

int restore(std::string const& state_dir, BackupFlags const& flags) {
  auto const restored =
      service::restore_state(flags.file, state_dir, flags.if_exists(), SystemClock{}.now());
  if (!restored) return complain("restore", restored.error().message);
  return print_restored(*restored, flags.as_json);
}

constexpr auto backup_example = R"($ torchwatch backup tonight.backup
tonight.backup: ..., checked
table           rows
nightly         2
...)";

constexpr auto restore_example = R"($ torchwatch backup tonight.backup --force
...
$ torchwatch restore tonight.backup --into restored/state
...restored/state/torchwatch.sqlite: ..., checked
table           rows
nightly         2
...)";

CLI::App* add_command(CLI::App& app,
                      std::string const& name,
                      std::string const& help,
                      std::shared_ptr<BackupFlags> const& flags) {
  auto* const command = app.add_subcommand(name, help);
  command->add_option("file", flags->file, "File of the backup")->required();
  command->add_flag("--json", flags->as_json, "Print JSON");
  return command;
}

}  // namespace

void add_backup(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto const flags = std::make_shared<BackupFlags>();
  auto* const backup = add_command(
      app, "backup", "Copies the database to a file, also while the service runs.", flags);
  backup->add_flag("--force", flags->force, "Replace a file of that name");
  add_example(*backup, backup_example);
  backup->callback([flags, &invocation, &chosen] {
    chosen = [flags, &invocation] {
      auto const options = load_options(invocation);
      return options ? back_up(*options, *flags) : int{could_not_run};
    };
  });
  auto* const restoring = add_command(
      app, "restore", "Makes a backup the database of a state directory without a service.", flags);
  restoring->add_option(
      "--into", flags->into, "State directory, made if it is missing; default: the configured one");
  restoring->add_flag(
      "--force", flags->force, "Replace the database there, which stays under another name");
  add_example(*restoring, restore_example);
  restoring->callback([flags, &invocation, &chosen] {
    chosen = [flags, &invocation] {
      if (!flags->into.empty()) return restore(flags->into, *flags);
      auto const options = load_options(invocation);
      return options ? restore(options->state_dir, *flags) : int{could_not_run};
    };
  });
}

}  // namespace torchwatch::cli
