#include "daemon/service/serve.h"

#include <CLI/CLI.hpp>

#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"

namespace torchwatch::cli {
namespace {

int run_serve(Place const& place) {
  auto const options = load_measuring_options(place);
  if (!options) return could_not_run;
  auto const served = service::serve(*options, place.executable, place.config_file);
  if (served) return 0;
  return complain("serve", served.error().message);
}

}  // namespace

void add_serve(CLI::App& app, Place const& place, Chosen& chosen) {
  app.add_subcommand("serve", "Watch for ever, and answer over HTTP")->callback([&] {
    chosen = [&place] {
      return run_serve(place);
    };
  });
}

}  // namespace torchwatch::cli
