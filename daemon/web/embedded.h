#pragma once

#include <span>

#include "storage/base/embedded_file.h"

namespace torchwatch::web {

/// The files of the dashboard, and the description of the API.
std::span<EmbeddedFile const> embedded();

}  // namespace torchwatch::web
