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
#include "daemon/builds/fetcher.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/terminal.h"
#include "daemon/service/programs.h"
#include "daemon/setup/first_config.h"
#include "daemon/setup/host.h"
#include "daemon/setup/live_channel.h"
#include "daemon/setup/new_file.h"
#include "storage/base/clock.h"

namespace torchwatch::cli {
namespace {

struct InitRequest {
  std::string file = "torchwatch.json";
  std::string url;
};

/// Returns the `state_dir` for a configuration at `file`: next to it, except for one in /etc.
std::string state_dir_for(std::string const& file) {
  auto const path = std::filesystem::absolute(file).lexically_normal().string();
  return path.starts_with("/etc/") ? "/var/lib/torchwatch" : "state";
}

setup::Host host_here() {
  setup::HostSources lookout;
  auto const* const path = std::getenv("PATH");  // no thread sets variables
  if (path != nullptr) lookout.path = path;
  boost::asio::io_context loop{1};
  return async::run_until_signal(loop,
                                 setup::inspect_host(loop.get_executor(), std::move(lookout)));
}

/// On a host with a GPU, asks the index for a CUDA channel that has nightlies and fits the driver.
void choose_channel(setup::Host const& host,
                    Invocation const& invocation,
                    setup::FirstConfig& first) {
  if (host.gpus.empty() || host.cuda.empty()) return;
  config::FeedOptions feed;
  feed.kind = config::FeedKind::wheels;
  if (!first.url.empty()) feed.url = first.url;
  print_fleeting_progress("reading " + feed.url + " for channels of CUDA " + host.cuda);
  boost::asio::io_context loop{1};
  builds::FetchProgram fetcher{loop.get_executor(), service::fetch_program(invocation.executable)};
  SystemClock const clock;
  auto const channel =
      async::run_until_signal(loop, setup::live_channel(fetcher, feed, host.cuda, clock));
  print_fleeting_progress("");
  if (channel)
    first.channel = *channel;
  else
    first.no_channel = channel.error().message;
}

int run_init(InitRequest const& request, Invocation const& invocation) {
  auto const host = host_here();
  setup::FirstConfig first;
  first.state_dir = state_dir_for(request.file);
  first.url = request.url;
  choose_channel(host, invocation, first);
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

constexpr auto init_example = R"($ torchwatch init watch.json
found:    ...GiB of memory...
written:  watch.json
next:     torchwatch config check watch.json
          torchwatch --config watch.json serve)";

}  // namespace

void add_init(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto const request = std::make_shared<InitRequest>();
  auto* const init = app.add_subcommand("init", "Writes a first configuration for this host.");
  init->add_option("file", request->file, "File to write; it must not exist")
      ->capture_default_str();
  init->add_option("--url", request->url, "Mirror of https://download.pytorch.org")
      ->check(complaint_about_url);
  add_example(*init, init_example);
  init->callback([request, &invocation, &chosen] {
    chosen = [request, &invocation] {
      return run_init(*request, invocation);
    };
  });
}

}  // namespace torchwatch::cli
