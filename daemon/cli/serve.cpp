#include "daemon/service/serve.h"

#include <utility>

#include <CLI/CLI.hpp>

#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"

namespace torchwatch::cli {
namespace {

int run_serve(Invocation const& invocation) {
  auto options = load_measuring_options(invocation);
  if (!options) return could_not_run;
  service::ConfigurationFile file;
  file.path = invocation.config_file;
  file.load = [&invocation] {
    return load_again(invocation);
  };
  file.on_use = [](config::Options const& used) {
    set_log_level(used.log.level);
  };
  auto const served = service::serve(std::move(*options), invocation.executable, file);
  if (served) return 0;
  return complain("serve", served.error().message);
}

constexpr auto serve_example = R"($ torchwatch --config torchwatch.json serve
2026-11-28T07:33:57.362 info http_listening url=http://127.0.0.1:8917
2026-11-28T07:33:57.362 info service_started config=torchwatch.json state_dir=...)";

}  // namespace

void add_serve(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto* const serve =
      app.add_subcommand("serve", "Watches the nightlies until it is stopped, and serves HTTP.");
  add_example(*serve, serve_example);
  serve->callback([&] {
    chosen = [&invocation] {
      return run_serve(invocation);
    };
  });
}

}  // namespace torchwatch::cli
