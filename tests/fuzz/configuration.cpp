#include <sstream>

#include "config/load.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"
#include "tests/temporary_folder.h"

namespace torchwatch::fuzz {
namespace {

/// Checks lines of the form "FILE:LINE...: WHAT".
void check_complaints(std::string const& complaints, std::string const& file) {
  require(!complaints.empty(), "a refused configuration has a reason");
  std::istringstream stream{complaints};
  for (std::string line; std::getline(stream, line);) {
    require(line.starts_with(file + ":"), "each complaint names the file");
    require(is_one_line(line), "a complaint is one line");
  }
}

}  // namespace

/// A configuration file.
void configuration(std::string_view input) {
  static tests::TemporaryFolder const folder;
  auto const file = folder / "torchwatch.json";
  write_file(file, input);
  auto const options = config::load(file);
  if (!options) {
    check_complaints(options.error().message, file.string());
    return;
  }
  auto const shown = config::show(*options).dump();
  write_file(file, shown);
  auto const again = config::load(file);
  require(again.has_value(), "a printed configuration can be loaded");
  require(config::show(*again).dump() == shown, "a printed configuration loads as an equal one");
}

}  // namespace torchwatch::fuzz
