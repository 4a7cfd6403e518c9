#include "daemon/service/serve.h"

#include <CLI/CLI.hpp>

#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"

namespace torchwatch::cli {
namespace {

int run_serve(Invocation const& invocation) {
  auto const options = load_measuring_options(invocation);
  if (!options) return could_not_run;
  auto const served = service::serve(*options, invocation.executable, invocation.config_file);
  if (served) return 0;
  return complain("serve", served.error().message);
}

}  // namespace

void add_serve(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  app.add_subcommand("serve", "Watch for ever, and answer over HTTP")->callback([&] {
    chosen = [&invocation] {
      return run_serve(invocation);
    };
  });
}

}  // namespace torchwatch::cli
