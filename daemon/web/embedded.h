#pragma once

#include <span>

#include "daemon/web/assets.h"

namespace torchwatch::web {

/// Every file that the build put into the program (deploy/cmake/EmbedFiles.cmake).
std::span<Asset const> embedded();

}  // namespace torchwatch::web
