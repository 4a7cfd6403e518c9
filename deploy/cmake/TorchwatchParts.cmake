# The target torchwatch_build has all compiler flags. torchwatch_part() defines the target of a part.

add_library(torchwatch_build INTERFACE)
target_compile_options(torchwatch_build INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2 -Wextra-semi
  -Wmissing-declarations -Wimplicit-fallthrough -fno-omit-frame-pointer
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond;-Wlogical-op;-Wsuggest-override>
  # g++ misreads Asio's coroutine frame allocator at -O2
  $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>
  # In a unity file, g++ treats anonymous namespaces like those of a header
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${TORCHWATCH_UNITY}>>:-Wno-subobject-linkage>
  $<$<BOOL:${TORCHWATCH_WERROR}>:-Werror>)
# Hardening: a memory error ends the program instead of giving access. Canaries, checked calls and containers, read-only
# relocations, and checked branch targets. Debian's name for this set is hardening=+all.
target_compile_definitions(torchwatch_build INTERFACE _GLIBCXX_ASSERTIONS)
target_compile_options(torchwatch_build INTERFACE
  -fstack-protector-strong
  $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-fcf-protection=full>
  # Needs an optimized build. Builds with sanitizers have their own checks.
  $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>)
target_link_options(torchwatch_build INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
if(TORCHWATCH_SANITIZE)
  target_compile_options(torchwatch_build INTERFACE
    -fsanitize=${TORCHWATCH_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(torchwatch_build INTERFACE -fsanitize=${TORCHWATCH_SANITIZE})
  if(TORCHWATCH_SANITIZE MATCHES thread)
    # Asio uses atomic_thread_fence, which g++'s thread sanitizer cannot follow
    target_compile_options(torchwatch_build INTERFACE -Wno-tsan)
  endif()
endif()

# torchwatch_part(NAME FOLDER SOURCES ...): a static library. Targets that link it can include the headers of FOLDER, and
# no others, as "FOLDER/header.h". So a part that is not linked cannot be included: the compiler enforces the layers.
function(torchwatch_part name folder)
  cmake_parse_arguments(PART "" "" "SOURCES" ${ARGN})
  set(view ${PROJECT_BINARY_DIR}/include/${name})
  cmake_path(GET folder PARENT_PATH parent)
  file(MAKE_DIRECTORY ${view}/${parent})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${view}/${folder} SYMBOLIC)
  add_library(${name} STATIC ${PART_SOURCES})
  target_include_directories(${name} PUBLIC ${view})
  target_link_libraries(${name} PRIVATE torchwatch_build)
endfunction()
