#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "runner/command/serve.h"
#include "runner/process/process_tree.h"
#include "runner/worker/wire.h"

namespace {

constexpr auto usage =
    "Usage: torchwatch-command [--help]\n"
    "\n"
    "Measures PyTorch builds with commands. Reads jobs from standard input, one JSON object a\n"
    "line, runs the command of each, and answers on standard output, until its input ends.\n"
    "\n"
    "  --help  print this\n"
    "\n"
    "Exit status: 0 at the end of input, 1 when something went wrong, 2 for a wrong option.";

constexpr int wrong_option = 2;

int run(std::string const& option) {
  if (option == "--help") {
    torchwatch::worker::send_line(usage);
    return 0;
  }
  if (!option.empty()) {
    std::fprintf(stderr, "torchwatch-command: unknown option %s\n%s\n", option.c_str(), usage);
    return wrong_option;
  }
  std::signal(SIGPIPE, SIG_IGN);
  torchwatch::process::adopt_orphans();
  torchwatch::command::serve(std::cin);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "");
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "torchwatch-command: %s\n", problem.what());
    return 1;
  }
}
