#pragma once

#include <string>

#include "daemon/cli/commands.h"

namespace torchwatch::cli {

/// How `config check` is asked.
struct ConfigQuestion {
  std::string file;
  bool is_offline = false;  ///< the file alone
  bool as_json = false;
};

/// Reads the file and, unless that is all, holds it against the world: prints a line a check.
/// Returns the exit status: 0 when all is good, could_not_run otherwise.
int check_config(ConfigQuestion const& question, Place const& place);

}  // namespace torchwatch::cli
