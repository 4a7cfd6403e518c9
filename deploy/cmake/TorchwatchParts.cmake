# One interface target carries every flag; torchwatch_part() makes one target per part.

add_library(torchwatch_build INTERFACE)
target_compile_options(torchwatch_build INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2 -Wextra-semi
  -Wmissing-declarations -Wimplicit-fallthrough -fno-omit-frame-pointer
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond;-Wlogical-op;-Wsuggest-override>
  # g++ misreads Asio's coroutine frame allocator at -O2
  $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>
  # In a unit of several files g++ takes anonymous namespaces for those of a header
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${TORCHWATCH_UNITY}>>:-Wno-subobject-linkage>
  $<$<BOOL:${TORCHWATCH_WERROR}>:-Werror>)
# What makes of a mistake in memory an end and no way in: canaries, checked calls and containers, relocations that are
# read-only from the start, branches that land where they may. Debian says the same with other words: hardening=+all.
target_compile_definitions(torchwatch_build INTERFACE _GLIBCXX_ASSERTIONS)
target_compile_options(torchwatch_build INTERFACE
  -fstack-protector-strong
  $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-fcf-protection=full>
  # It wants an optimising compiler, and sanitizers have checks of their own.
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

# torchwatch_part(NAME FOLDER SOURCES ...): a static library that shows the headers of FOLDER, and of FOLDER alone,
# as "FOLDER/header.h" to whoever links it. A part that is not linked cannot be included: that is the rule of who may
# know whom, kept by the compiler.
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
