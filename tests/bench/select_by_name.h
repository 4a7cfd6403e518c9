#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace torchwatch::bench {

/// Returns the elements of `all` whose names contain `part`, the value of `option`. Throws
/// std::runtime_error if there are none, because a table without rows would break no claim.
template <class Thing, class NameOf>
std::vector<Thing> select_by_name(std::string_view option,
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
