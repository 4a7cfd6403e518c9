#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <nlohmann/json.hpp>

#include "tests/fakes/github/certificates.h"
#include "tests/fakes/github/fake_github.h"
#include "tests/fakes/github/fake_github_server.h"

namespace {

using nlohmann::json;
namespace fakes = torchwatch::fakes;

struct Arguments {
  std::uint16_t port = 0;
  std::string cert_dir;
  std::string state;
  std::string token;
};

int serve_until_signal(Arguments const& arguments) {
  fakes::FakeGithub github{arguments.state};
  auto const identity = fakes::make_identity(arguments.cert_dir, {"127.0.0.1", "localhost"});
  boost::asio::io_context loop;
  boost::asio::signal_set signals{loop, SIGINT, SIGTERM};
  signals.async_wait([](boost::system::error_code, int) {});
  fakes::FakeGithubServer const server{github, identity, arguments.port};
  if (!arguments.token.empty())
    github.control({{"settings", {{"token", arguments.token}}}}, server.url());
  std::cout << json{{"url", server.url()}, {"ca", identity.ca.string()}}.dump() << std::endl;
  loop.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "A fake of api.github.com for tests: the issues of one repository, over TLS on 127.0.0.1"};
  Arguments arguments;
  app.add_option("--port", arguments.port, "port; 0: any free one");
  app.add_option("--cert-dir", arguments.cert_dir, "directory to which ca.pem is written")
      ->required();
  app.add_option("--state", arguments.state, "JSON file with the state; created if missing")
      ->required();
  app.add_option("--token", arguments.token, "the only token that is accepted; default: any");
  CLI11_PARSE(app, argc, argv);
  try {
    return serve_until_signal(arguments);
  } catch (std::exception const& failure) {
    std::cerr << "fake-github: " << failure.what() << '\n';
    return 1;
  }
}
