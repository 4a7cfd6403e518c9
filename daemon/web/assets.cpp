#include "daemon/web/assets.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "daemon/web/embedded.h"

namespace torchwatch::web {

EmbeddedFile const* find_asset(std::string_view name) {
  auto const all = embedded();
  auto const at = std::ranges::find(all, name, &EmbeddedFile::name);
  return at == all.end() ? nullptr : &*at;
}

std::string_view media_type(std::string_view name) {
  using Pair = std::pair<std::string_view, std::string_view>;
  constexpr std::array known{
      Pair{".css", "text/css; charset=utf-8"},
      Pair{".html", "text/html; charset=utf-8"},
      Pair{".json", "application/json"},
      Pair{".js", "text/javascript; charset=utf-8"},
      Pair{".svg", "image/svg+xml"},
  };
  auto const* const at =
      std::ranges::find_if(known, [&](Pair const& pair) { return name.ends_with(pair.first); });
  return at == known.end() ? "application/octet-stream" : at->second;
}

}  // namespace torchwatch::web
