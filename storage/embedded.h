#pragma once

#include <span>

#include "storage/base/embedded_file.h"

namespace torchwatch::storage {

/// storage/schema.sql, which the build puts into the program (deploy/cmake/EmbedFiles.cmake).
std::span<EmbeddedFile const> embedded();

}  // namespace torchwatch::storage
