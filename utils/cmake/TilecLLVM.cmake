# Finds LLVM and MLIR 22 and makes them safe to link statically.

# The static MLIR targets mention zstd; Debian's package has no CMake file of that name.
if(NOT TARGET zstd::libzstd_shared)
  find_library(TILEC_ZSTD NAMES zstd REQUIRED)
  add_library(zstd::libzstd_shared UNKNOWN IMPORTED)
  set_target_properties(zstd::libzstd_shared PROPERTIES IMPORTED_LOCATION ${TILEC_ZSTD})
endif()

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
message(STATUS "Using MLIR in ${MLIR_DIR}")
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# The exported MLIR targets name both the static libraries and the shared `LLVM`. Linking both puts two copies of
# LLVM into one program, which then crashes at start, so the shared one is removed.
if(NOT TILEC_SHARED_LLVM)
  get_property(tilec_mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
  foreach(lib ${MLIR_EXPORTED_TARGETS} ${tilec_mlir_libs})
    if(TARGET ${lib})
      get_target_property(deps ${lib} INTERFACE_LINK_LIBRARIES)
      if(deps)
        list(REMOVE_ITEM deps LLVM)
        set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${deps}")
      endif()
    endif()
  endforeach()
endif()

# tilec_llvm_libs(VAR component...): the libraries of LLVM components, shared or static.
function(tilec_llvm_libs out)
  if(TILEC_SHARED_LLVM)
    set(${out} LLVM PARENT_SCOPE)
  else()
    llvm_map_components_to_libnames(libs ${ARGN})
    set(${out} ${libs} PARENT_SCOPE)
  endif()
endfunction()
