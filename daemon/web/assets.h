#pragma once

#include <string_view>

namespace torchwatch::web {

/// A file of the dashboard, as it lies in the program.
struct Asset {
  std::string_view name;   ///< "style.css"
  std::string_view bytes;  ///< for ever
};

/// The file of that name; nothing when there is none.
Asset const* find_asset(std::string_view name);

/// What a browser is told that a file is, by its name: "text/css; charset=utf-8".
std::string_view media_type(std::string_view name);

}  // namespace torchwatch::web
