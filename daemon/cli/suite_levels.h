#pragma once

#include <istream>
#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/domain/night.h"

namespace torchwatch::cli {

/// The levels of one side of a comparison.
struct SuiteLevels {
  std::vector<LevelOfSeries> levels;  ///< without a fleet when read from a file
  std::vector<std::string> skipped;   ///< metrics that cannot be compared, each with the reason
};

/// Reads a file of results: the output of "torchwatch bench --json", or TorchBench's metrics file.
/// The former describes its metrics, so they need no configuration; unknown ones are declared.
/// Skips scores of a whole configuration, failed benchmarks, metrics that the file describes in
/// another way than they are declared, and metrics that are neither declared nor described. Fails
/// with invalid_argument, naming `file`, when nothing in a metrics file can be compared or when the
/// text has another form.
Result<SuiteLevels> read_levels(std::string const& file, std::istream& text);

/// Returns "a.json: skipped 1 metric: v3_score (no known benchmark)" and a line break. Names the
/// first ten metrics; empty when none was skipped.
std::string line_of_skipped(std::string const& file, std::vector<std::string> const& skipped);

}  // namespace torchwatch::cli
