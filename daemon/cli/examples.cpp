#include <array>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "daemon/cli/commands.h"

namespace torchwatch::cli {
namespace {

struct Examples {
  char const* command;
  std::string_view lines;
};

constexpr std::array examples{
    Examples{"init",
             "  torchwatch init\n"
             "  torchwatch init /etc/torchwatch/torchwatch.json"},
    Examples{"serve", "  torchwatch --config torchwatch.json serve"},
    Examples{"check",
             "  torchwatch --config torchwatch.json check\n"
             "  torchwatch --config torchwatch.json check --json > report.json"},
    Examples{"bench",
             "  torchwatch bench --smoke --model resnet18\n"
             "  torchwatch bench --json > before.json"},
    Examples{"suite",
             "  torchwatch suite list\n"
             "  torchwatch suite parameters resnet50"},
    Examples{"compare",
             "  torchwatch compare before.json after.json\n"
             "  torchwatch compare cpu gpu"},
    Examples{
        "bisect",
        "  torchwatch bisect --start v2.8.0 --end main --benchmark 'test_eval[dlrm-cpu-eager]'\n"
        "  torchwatch bisect --again 1 --server http://localhost:8917 --token-file token"},
    Examples{"bisections",
             "  torchwatch bisections --server http://localhost:8917\n"
             "  torchwatch bisections 1 --pause --server http://localhost:8917 --token-file token"},
    Examples{"incidents",
             "  torchwatch incidents\n"
             "  torchwatch incidents 1 --server http://localhost:8917 > report.md"},
    Examples{"nightlies",
             "  torchwatch nightlies --most 50\n"
             "  torchwatch nightlies 2"},
    Examples{"alarms", "  torchwatch alarms --server http://localhost:8917"},
    Examples{"series",
             "  torchwatch series\n"
             "  torchwatch series 'test_eval[dlrm-cpu-eager]_latency' --fleet local"},
    Examples{"builds",
             "  torchwatch builds\n"
             "  torchwatch builds pin nightly-1 --who ada --why 'for the release notes'"},
    Examples{"rule",
             "  torchwatch rule accept --incident 1 --who ada --why 'pays for itself'\n"
             "  torchwatch rule mute --benchmark 'test_train[dlrm-cpu-eager]' --until 2026-12-31 "
             "--who ada --why known"},
    Examples{"config",
             "  torchwatch config check torchwatch.json\n"
             "  torchwatch config schema > torchwatch.schema.json"},
};

}  // namespace

void add_examples(CLI::App& app) {
  for (auto const& [command, lines] : examples)
    app.get_subcommand(command)->footer("Examples:\n" + std::string{lines});
  app.footer(
      "Examples:\n"
      "  torchwatch init && torchwatch config check torchwatch.json\n"
      "  torchwatch --config torchwatch.json serve\n"
      "  torchwatch bench --smoke --model resnet18\n"
      "\"torchwatch COMMAND --help\" has those of a command.");
}

}  // namespace torchwatch::cli
