#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace torchwatch::cli {

/// What may follow `words`, the last of which is only begun ("" when nothing is): commands and
/// flags of the deepest command that they name. Nothing where a flag wants its value, so that the
/// shell offers files.
std::vector<std::string> completions(CLI::App const& app, std::vector<std::string> const& words);

}  // namespace torchwatch::cli
