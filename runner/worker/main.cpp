#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "runner/protocol.h"
#include "runner/worker/gpu.h"
#include "runner/worker/introspect.h"
#include "runner/worker/serve.h"
#include "runner/worker/wire.h"

namespace {

namespace worker = torchwatch::worker;

constexpr auto usage =
    "Usage: torchwatch-worker [--parameters MODEL | --coverage | --help]\n"
    "\n"
    "Measures PyTorch benchmarks on this host. Reads jobs from standard input, one JSON object a\n"
    "line, and answers each on standard output, until its input ends.\n"
    "\n"
    "  --parameters MODEL  print its parameters and buffers as JSON\n"
    "  --coverage          print the operators that each model dispatches as JSON\n"
    "  --help              print this\n"
    "\n"
    "Long commands print progress first, one JSON object a line.\n"
    "Exit status: 0 at the end of input, 1 when something went wrong, 2 for a wrong option.";

constexpr int wrong_option = 2;

void send_progress(std::string const& model, int done, int total) {
  worker::send_line(
      torchwatch::protocol::encode(torchwatch::protocol::Progress{"", model, done, total}));
}

int refuse(std::string const& what) {
  std::fprintf(stderr, "torchwatch-worker: %s\n%s\n", what.c_str(), usage);
  return wrong_option;
}

int print_parameters(std::string const& name) {
  auto const* const model = torchwatch::suite::find_model(name);
  if (model == nullptr)
    return refuse("unknown model \"" + name + "\"; " + torchwatch::suite::why_missing(name));
  worker::send_line(worker::describe_parameters(*model).dump());
  return 0;
}

int run(std::string_view option, std::string const& argument) {
  if (option.empty())
    worker::serve(std::cin, worker::devices_of_host());
  else if (option == "--parameters")
    return print_parameters(argument);
  else if (option == "--coverage")
    worker::send_line(worker::cover(send_progress).dump());
  else if (option == "--help")
    worker::send_line(usage);
  else
    return refuse("unknown option " + std::string(option));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "torchwatch-worker: %s\n", problem.what());
    return 1;
  }
}
