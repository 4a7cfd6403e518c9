#include <iostream>

#include <CLI/CLI.hpp>

#include "tests/lab/generate.h"

/// torchwatch-lab: writes histories with known culprits, to test the service.
int main(int argc, char** argv) {
  CLI::App app{"Write a git history with known performance changes, and a file that lists them."};
  app.require_subcommand(1);

  torchwatch::lab::Request request;
  bool scripted = false;
  auto* const generate =
      app.add_subcommand("generate", "Write a repository, its truth.json and torchwatch.json");
  generate->add_option("--scenario", request.scenario, "File in tests/lab/scenarios")->required();
  generate->add_option("--out", request.out, "Directory to create")->required();
  generate
      ->add_option(
          "--seed", request.seed, "Seed of the history; equal seeds give equal commit hashes")
      ->capture_default_str();
  generate->add_flag(
      "--scripted", scripted, "Write numbers for the scripted worker instead of sources");
  generate->add_option(
      "--worker", request.worker, "Path of the worker in torchwatch.json (measure.worker)");
  CLI11_PARSE(app, argc, argv);

  if (scripted) request.contents = torchwatch::lab::Contents::scripted;
  auto const done = torchwatch::lab::generate(request);
  if (done) return 0;
  std::cerr << "torchwatch-lab: " << done.error().message << '\n';
  return 1;
}
