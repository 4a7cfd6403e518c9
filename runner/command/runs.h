#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::command {

/// The metrics of a job, and the benchmark that a command runs.
struct Wanted {
  std::vector<std::string> required;  ///< metrics that each start of the command must print
  std::vector<std::string> allowed;   ///< all metrics that it may print
  std::vector<std::string> exact;     ///< metrics whose values are equal in all runs
  std::string model;                  ///< selects a benchmark in Bencher's format
  std::string benchmark;              ///< selects it as well: "test_run[nanogpt-cpu-mine]"
};

/// The value of each metric that one run printed.
using Run = std::map<std::string, double>;

/// The output of a command: its runs, and the other lines, which belong into the log.
struct Output {
  std::vector<Run> runs;
  std::string log;
};

/// Reads one line of a command's output: `{"tokens_per_s": 1234.5}`, or Bencher's metric format,
/// `{"benchmark": {"measure": {"value": 1}}}`. Of Bencher's format it reads the measures that are
/// allowed, and skips the others. Returns nothing for a line that does not begin with "{". Fails
/// with `corrupt` for a line that is not JSON, and for a metric that is not declared, not a number,
/// not finite, or not above 0. Exact metrics may be 0, and "leak" may be any number. Pure.
Result<std::optional<Run>> parse_line(std::string_view line, Wanted const& wanted);

/// Reads the whole output of a command: one JSON object a line, or one object over several lines.
/// Errors as in parse_line(), with the number of the line. Pure.
Result<Output> parse_output(std::string_view text, Wanted const& wanted);

/// Fails with `corrupt` and the name of the first required metric that no run has. Pure.
Result<> check_complete(std::vector<Run> const& runs, Wanted const& wanted);

}  // namespace torchwatch::command
