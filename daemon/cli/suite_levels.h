#pragma once

#include <istream>
#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/domain/night.h"

namespace torchwatch::cli {

/// The levels of one side of a comparison.
struct SuiteLevels {
  std::vector<LevelOfSeries> levels;  ///< a file's have no fleet
  std::vector<std::string> skipped;   ///< metrics that cannot be compared, each with the reason
};

/// Reads a file of results: what "torchwatch bench --json" prints, or TorchBench's metrics file.
/// Skips scores of a whole configuration, metrics that torchwatch does not know, and values of what
/// failed. Fails with invalid_argument, naming `file`, when nothing in a metrics file can be
/// compared or the text is of another form.
Result<SuiteLevels> read_levels(std::string const& file, std::istream& text);

/// "a.json: skipped 1 metric: v3_score (no known benchmark)" and a line break. Names the first ten;
/// empty when nothing was skipped.
std::string line_of_skipped(std::string const& file, std::vector<std::string> const& skipped);

}  // namespace torchwatch::cli
