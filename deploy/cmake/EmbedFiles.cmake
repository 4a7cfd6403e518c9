# embed_files(TARGET NAMESPACE HEADER FILES ...): adds a source with the bytes of the files to TARGET. NAMESPACE::embedded(),
# which HEADER declares, lists them by file name. The assembler reads the files, so they are never C++ text.
function(embed_files target namespace header)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded.cpp)
  set(bytes "")
  set(names "")
  set(entries "")
  set(number 0)
  foreach(file ${ARGN})
    cmake_path(ABSOLUTE_PATH file OUTPUT_VARIABLE path)
    cmake_path(GET path FILENAME name)
    list(APPEND paths ${path})
    string(APPEND bytes "    \"${target}_file_${number}: .incbin \\\"${path}\\\"\\n\"\n    \"${target}_file_${number}_end:\\n\"\n")
    string(APPEND names "extern char const ${target}_file_${number}[];\nextern char const ${target}_file_${number}_end[];\n")
    string(APPEND entries "    EmbeddedFile{\"${name}\", {${target}_file_${number}, ${target}_file_${number}_end}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${source} CONTENT [[// Made by deploy/cmake/EmbedFiles.cmake.
#include "@header@"

#include <array>

asm(".pushsection .rodata\n"
@bytes@    ".popsection\n");

extern "C" {
@names@}

namespace @namespace@ {

std::span<EmbeddedFile const> embedded() {
  static std::array const all{
@entries@  };
  return all;
}

}  // namespace @namespace@
]] @ONLY)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${paths}" SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
