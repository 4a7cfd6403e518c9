# Finds a LibTorch, with or without CUDA: find_package(LibTorch REQUIRED). CMAKE_PREFIX_PATH names an unpacked archive or
# the torch/ of a wheel; otherwise Debian's package is used. If LibTorch_ROOT is set, only that is used. Defines
#
#   LibTorch::LibTorch    headers, libraries, definitions
#   LibTorch_CXX11_ABI    0 or 1: _GLIBCXX_USE_CXX11_ABI that all objects must use; empty: the compiler's default
#   LibTorch_CUDA         the major version of its CUDA, such as 12; empty: none
#   LibTorch_CUDA_RPATH   RPATH that a program in PREFIX/bin needs, in addition to PREFIX/lib, for CUDA's runtime library
#
# An error is one line.
include(${CMAKE_CURRENT_LIST_DIR}/LibTorchCuda.cmake)

# Fails with one line. CMake does not wrap lines that begin with a blank.
function(libtorch_fail text)
  message(FATAL_ERROR " ${text}")
endfunction()

# libtorch_first(OUT NAME DIRECTORY...): the first directory that holds NAME; empty when none does.
function(libtorch_first out name)
  set(${out} "" PARENT_SCOPE)
  foreach(directory IN LISTS ARGN)
    if(EXISTS ${directory}/${name})
      set(${out} ${directory} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

block(PROPAGATE LibTorch_FOUND LibTorch_CXX11_ABI LibTorch_CUDA LibTorch_CUDA_RPATH)
  # The suffix is for torch.utils.cmake_prefix_path: torch/share/cmake
  set(header torch/csrc/api/include/torch/torch.h)
  if(LibTorch_ROOT)
    find_path(LibTorch_INCLUDE_DIR ${header} PATHS ${LibTorch_ROOT}/include NO_DEFAULT_PATH)
    set(looked "${LibTorch_ROOT}")
  else()
    find_path(LibTorch_INCLUDE_DIR ${header} PATH_SUFFIXES ../../include)
    list(JOIN CMAKE_PREFIX_PATH ", " named)
    set(looked "CMAKE_PREFIX_PATH (${named}) nor on this host; name an unpacked LibTorch or the torch/ of a wheel there")
  endif()
  mark_as_advanced(LibTorch_INCLUDE_DIR)
  if(NOT LibTorch_INCLUDE_DIR)
    libtorch_fail("LibTorch: no include/${header} in ${looked}")
  endif()
  cmake_path(SET include NORMALIZE ${LibTorch_INCLUDE_DIR})
  cmake_path(GET include PARENT_PATH prefix)
  set(places ${prefix}/lib ${prefix}/lib/${CMAKE_LIBRARY_ARCHITECTURE} ${prefix}/lib64)
  libtorch_first(lib libtorch.so ${places})
  set(libraries ${lib}/libtorch.so ${lib}/libtorch_cpu.so ${lib}/libc10.so)
  foreach(library IN LISTS libraries)
    if(NOT EXISTS ${library})
      cmake_path(GET library FILENAME name)
      list(JOIN places ", " places)
      libtorch_fail("LibTorch: headers in ${include}, but no ${name} in ${places}")
    endif()
  endforeach()

  # Its compile definitions, from the text of its configuration
  libtorch_first(config Torch/TorchConfig.cmake ${prefix}/share/cmake ${lib}/cmake)
  set(LibTorch_CXX11_ABI "")
  set(definitions "")
  if(config)
    file(READ ${config}/Torch/TorchConfig.cmake text)
    if(text MATCHES "_GLIBCXX_USE_CXX11_ABI=([01])")
      set(LibTorch_CXX11_ABI ${CMAKE_MATCH_1})
      list(APPEND definitions ${CMAKE_MATCH_0})
    endif()
  endif()
  if(EXISTS ${config}/Caffe2/Caffe2Targets.cmake)
    file(READ ${config}/Caffe2/Caffe2Targets.cmake text)
    string(REGEX MATCHALL "INTERFACE_COMPILE_DEFINITIONS \"[^\"$\\]+" lines "${text}")
    string(REPLACE "INTERFACE_COMPILE_DEFINITIONS \"" "" lines "${lines}")
    list(APPEND definitions ${lines})
  endif()

  set(LibTorch_CUDA "")
  set(LibTorch_CUDA_RPATH "")
  set(cuda_headers "")
  set(found "LibTorch: ${prefix}")
  if(EXISTS ${lib}/libtorch_cuda.so)
    libtorch_cuda(${prefix} ${lib})
    string(APPEND found ", ${cuda_found}")
    list(APPEND libraries ${lib}/libtorch_cuda.so ${lib}/libc10_cuda.so ${cuda_runtime})
    set(LibTorch_CUDA ${cuda_version})
    set(LibTorch_CUDA_RPATH ${cuda_rpath})
  elseif(EXISTS ${lib}/libtorch_hip.so)
    message(WARNING " ${lib}/libtorch_hip.so: the worker is built without GPUs, because it supports only CUDA")
  endif()

  # Each part that uses LibTorch runs this file; the target is defined once
  if(NOT TARGET LibTorch::LibTorch)
    message(STATUS "${found}")
    add_library(LibTorch::LibTorch INTERFACE IMPORTED GLOBAL)
    target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
      ${include} ${include}/torch/csrc/api/include ${cuda_headers})
    target_compile_definitions(LibTorch::LibTorch INTERFACE ${definitions})
    # The worker and LibTorch must use one C++ library, even if the compiler links its own statically. Otherwise LibTorch's
    # warnings would use a std::cerr of the worker that was never constructed, and crash
    target_link_libraries(LibTorch::LibTorch INTERFACE ${libraries} -l:libstdc++.so.6)
    # Kernels register themselves, so a linker may see no reference to libtorch_cpu and would drop it. The host that compiles
    # the worker may lack the driver's libcuda.so.
    target_link_options(LibTorch::LibTorch INTERFACE LINKER:--no-as-needed
      $<$<BOOL:${LibTorch_CUDA}>:LINKER:--allow-shlib-undefined>)
  endif()
  set(LibTorch_FOUND TRUE)
endblock()
