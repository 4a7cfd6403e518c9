#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <regex>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>

#include "config/rule.h"
#include "daemon/async/run_until_signal.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/setup/first_config.h"
#include "daemon/setup/host.h"
#include "daemon/setup/new_file.h"

namespace torchwatch::cli {
namespace {

struct InitRequest {
  std::string file = "torchwatch.json";
  std::string url;
};

/// The configuration of a system's service does not keep its state beside it.
std::string state_beside(std::string const& file) {
  auto const invocation = std::filesystem::absolute(file).lexically_normal().string();
  return invocation.starts_with("/etc/") ? "/var/lib/torchwatch" : "state";
}

setup::Host host_here() {
  setup::HostSources lookout;
  auto const* const path = std::getenv("PATH");  // nobody sets any while there are threads
  if (path != nullptr) lookout.path = path;
  boost::asio::io_context loop{1};
  return async::run_until_signal(loop,
                                 setup::inspect_host(loop.get_executor(), std::move(lookout)));
}

int run_init(InitRequest const& request) {
  auto const host = host_here();
  setup::FirstConfig first;
  first.state_dir = state_beside(request.file);
  first.url = request.url;
  auto const written = setup::write_new_file(request.file, setup::first_config(host, first));
  if (!written) return complain("init", written.error().message);
  std::cout << "found:    " << setup::description_of(host) << "\nwritten:  " << request.file
            << "\nnext:     torchwatch config check " << request.file
            << "\n          torchwatch --config " << request.file << " serve\n";
  return nothing_found;
}

std::string complaint_about_url(std::string const& url) {
  auto const& form = config::web_root;
  bool const fits = url.size() <= config::longest_match &&
                    std::regex_match(url, std::regex{std::string{form.expression}});
  return fits ? "" : "found \"" + url + "\", allowed is " + std::string{form.meaning};
}

}  // namespace

void add_init(CLI::App& app, Chosen& chosen) {
  auto const request = std::make_shared<InitRequest>();
  auto* const init = app.add_subcommand(
      "init", "Write a first configuration, for what this host has; asks nothing");
  init->add_option("file", request->file, "Where; it must not be there yet")->capture_default_str();
  init->add_option("--url", request->url, "Mirror of https://download.pytorch.org")
      ->check(complaint_about_url);
  init->callback([request, &chosen] {
    chosen = [request] {
      return run_init(*request);
    };
  });
}

}  // namespace torchwatch::cli
