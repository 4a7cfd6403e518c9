#include <iostream>

#include <CLI/CLI.hpp>

#include "tests/lab/generate.h"

/// torchwatch-lab: writes histories with known culprits for the service to find.
int main(int argc, char** argv) {
  CLI::App app{"Writes a git history with known performance changes, and what the answer is."};
  app.require_subcommand(1);

  torchwatch::lab::Request request;
  bool scripted = false;
  auto* const generate =
      app.add_subcommand("generate", "Write a repository, its truth.json and torchwatch.json");
  generate->add_option("--scenario", request.scenario, "File below scenarios/")->required();
  generate->add_option("--out", request.out, "Directory to create")->required();
  generate->add_option("--seed", request.seed, "The same seed gives the same commit hashes")
      ->capture_default_str();
  generate->add_flag("--scripted", scripted, "Numbers for the scripted worker in place of sources");
  generate->add_option("--worker", request.worker, "Worker to name in torchwatch.json");
  CLI11_PARSE(app, argc, argv);

  if (scripted) request.contents = torchwatch::lab::Contents::scripted;
  auto const done = torchwatch::lab::generate(request);
  if (done) return 0;
  std::cerr << "torchwatch-lab: " << done.error().message << '\n';
  return 1;
}
