#pragma once

#include <string_view>

#include "storage/base/embedded_file.h"

namespace torchwatch::web {

/// Returns the dashboard's file with this name, or null if there is none.
EmbeddedFile const* find_asset(std::string_view name);

/// Returns the media type for a file's name, such as "text/css; charset=utf-8".
std::string_view media_type(std::string_view name);

}  // namespace torchwatch::web
