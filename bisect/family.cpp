#include "bisect/family.h"

#include <algorithm>

namespace torchwatch::bisect {

config::DecideOptions for_family(config::DecideOptions options, std::size_t series) {
  if (series == 0) return options;
  options.error = std::min(options.error, options.false_discovery / static_cast<double>(series));
  options.max_pairs = std::max(options.max_pairs, options.coins());
  return options;
}

}  // namespace torchwatch::bisect
