# embed_files(TARGET FILES ...): gives TARGET a source that has the bytes of the files in the program, each under the last
# part of its path, as torchwatch::web::embedded() lists them. The assembler reads them, so that none is ever C++.
function(embed_files target)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded.cpp)
  set(bytes "")
  set(names "")
  set(entries "")
  set(number 0)
  foreach(file ${ARGN})
    cmake_path(ABSOLUTE_PATH file OUTPUT_VARIABLE path)
    cmake_path(GET path FILENAME name)
    list(APPEND paths ${path})
    string(APPEND bytes "    \"file_${number}: .incbin \\\"${path}\\\"\\n\"\n    \"file_${number}_end:\\n\"\n")
    string(APPEND names "extern char const file_${number}[];\nextern char const file_${number}_end[];\n")
    string(APPEND entries "    Asset{\"${name}\", {file_${number}, file_${number}_end}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${source} CONTENT [[// Made by deploy/cmake/EmbedFiles.cmake.
#include "daemon/web/embedded.h"

#include <array>

asm(".pushsection .rodata\n"
@bytes@    ".popsection\n");

extern "C" {
@names@}

namespace torchwatch::web {

std::span<Asset const> embedded() {
  static std::array const all{
@entries@  };
  return all;
}

}  // namespace torchwatch::web
]] @ONLY)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${paths}" SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
