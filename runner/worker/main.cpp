#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>

#include "runner/worker/serve.h"
#include "runner/worker/wire.h"

namespace {

constexpr auto usage =
    "Usage: torchwatch-worker [--list | --help]\n"
    "\n"
    "Measures PyTorch benchmarks on this host. Reads jobs from standard input, one JSON object a\n"
    "line, and answers each on standard output, until its input ends.\n"
    "\n"
    "  --list  print the models as JSON\n"
    "  --help  print this\n"
    "\n"
    "Exit status: 0 at the end of input, 1 when nobody reads the answers, 2 for a wrong option.";

}  // namespace

int main(int argc, char** argv) {
  std::string_view const option = argc > 1 ? argv[1] : "";
  try {
    if (option.empty())
      torchwatch::worker::serve(std::cin);
    else if (option == "--list")
      torchwatch::worker::list_models();
    else if (option == "--help")
      torchwatch::worker::send_line(usage);
    else {
      std::fprintf(stderr, "torchwatch-worker: unknown option %s\n%s\n", argv[1], usage);
      return 2;
    }
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "torchwatch-worker: %s\n", problem.what());
    return 1;
  }
  return 0;
}
