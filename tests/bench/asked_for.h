#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace torchwatch::bench {

/// Those of `all` whose names hold `part`, as `option` asked for. Throws std::runtime_error when
/// there are none: a table without rows breaks no claim.
template <class Thing, class NameOf>
std::vector<Thing> asked_for(std::string_view option,
                             std::string_view part,
                             std::vector<Thing> all,
                             NameOf const& name_of) {
  std::vector<std::string> names;
  for (auto const& thing : all)
    if (std::ranges::find(names, name_of(thing)) == names.end()) names.push_back(name_of(thing));
  std::erase_if(all,
                [&](Thing const& thing) { return name_of(thing).find(part) == std::string::npos; });
  if (all.empty())
    throw std::runtime_error(
        fmt::format("{}: found \"{}\", allowed is a part of one of these:\n  {}",
                    option,
                    part,
                    fmt::join(names, "\n  ")));
  return all;
}

}  // namespace torchwatch::bench
