#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/builds/build_store.h"
#include "storage/store.h"

namespace torchwatch::builds {

/// What people may ask of builds.
enum class BuildAction {
  pin,     ///< keep it, whatever room it takes
  unpin,   ///< keep it no longer than others
  remove,  ///< now, if nobody holds it
  prune,   ///< remove what has to go by quota and free space, now
  fetch,   ///< bring a nightly's build back, and pin it
};

std::string_view to_string(BuildAction action);
std::optional<BuildAction> parse_build_action(std::string_view text);

struct BuildOrder {
  BuildAction action = BuildAction::prune;
  /// A build's name; of fetch, a nightly's date, or its id as in "nightly-12"; of prune, nothing.
  std::string build;
  std::string who;  ///< of pin and fetch
  std::string why;  ///< of pin and fetch
};

/// Does what is asked for, and returns the builds that it did it to. A fetch is stored, and done by
/// the next WantedBuilds::bring(), unless the build is there: it returns none then. Fails with
/// not_found, with refused, naming who holds what shall be removed, and with unavailable.
Result<std::vector<KeptBuild>> carry_out(BuildOrder const& order,
                                         BuildStore& builds,
                                         storage::Store& store,
                                         Timestamp now);

}  // namespace torchwatch::builds
