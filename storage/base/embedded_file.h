#pragma once

#include <string_view>

namespace torchwatch {

/// A file that the build puts into the program (deploy/cmake/EmbedFiles.cmake).
struct EmbeddedFile {
  std::string_view name;      ///< "style.css"
  std::string_view contents;  ///< valid until the program ends
};

}  // namespace torchwatch
