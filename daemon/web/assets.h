#pragma once

#include <string_view>

#include "storage/base/embedded_file.h"

namespace torchwatch::web {

/// The file of the dashboard with that name; null if there is none.
EmbeddedFile const* find_asset(std::string_view name);

/// What a browser is told that a file is, by its name: "text/css; charset=utf-8".
std::string_view media_type(std::string_view name);

}  // namespace torchwatch::web
