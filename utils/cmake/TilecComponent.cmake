# tilec_component(NAME SOURCES file... [LINK lib...] [MLIR lib...] [LLVM component...] [EXCEPTIONS] [NO_PCH])
#
# One static library a component. LINK names other tilec components (the only way to depend on one, so that
# dependencies stay one-way), MLIR names MLIR libraries, LLVM names LLVM components. A component with MLIR
# libraries is compiled with the shared precompiled header unless NO_PCH is given.

add_library(tilec_flags INTERFACE)
target_include_directories(tilec_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
target_include_directories(tilec_flags SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(tilec_flags INTERFACE ${LLVM_DEFINITIONS_LIST})
# std::stable_sort of libstdc++ 12 uses a function that clang 22 calls deprecated.
target_compile_options(tilec_flags INTERFACE -Wno-deprecated-declarations
  -Wall -Wextra -Wpedantic -Wno-unused-parameter -Wnon-virtual-dtor
  $<$<BOOL:${TILEC_WERROR}>:-Werror> -ffunction-sections -fdata-sections)

separate_arguments(tilec_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(tilec_flags INTERFACE ${tilec_defs})

# The precompiled header of every component that includes MLIR.
add_library(tilec_pch STATIC ${PROJECT_SOURCE_DIR}/lib/Support/PrecompiledHeader.cpp)
target_link_libraries(tilec_pch PRIVATE tilec_flags)
target_compile_options(tilec_pch PRIVATE -fno-exceptions)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(tilec_pch PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(tilec_pch PRIVATE ${PROJECT_SOURCE_DIR}/lib/Support/PrecompiledHeader.h)
endif()

function(tilec_component name)
  cmake_parse_arguments(ARG "EXCEPTIONS;NO_PCH" "" "SOURCES;LINK;MLIR;LLVM;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tilec_flags)
  if(ARG_LINK)
    target_link_libraries(${name} PUBLIC ${ARG_LINK})
  endif()
  if(ARG_LLVM)
    tilec_llvm_libs(libs ${ARG_LLVM})
    target_link_libraries(${name} PUBLIC ${libs})
  endif()
  if(ARG_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fexceptions)
  else()
    target_compile_options(${name} PRIVATE -fno-exceptions)
  endif()
  if(ARG_MLIR)
    if(TILEC_SHARED_LLVM)
      target_link_libraries(${name} PUBLIC MLIR)
    else()
      target_link_libraries(${name} PUBLIC ${ARG_MLIR})
    endif()
    add_dependencies(${name} tilec_tablegen)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang AND NOT ARG_NO_PCH AND NOT ARG_EXCEPTIONS)
      target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
      target_precompile_headers(${name} REUSE_FROM tilec_pch)
    endif()
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# tilec_tool(NAME SOURCES file... LINK lib...): a program of the build's bin folder.
function(tilec_tool name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tilec_flags ${ARG_LINK})
  if(ARG_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fexceptions)
  else()
    target_compile_options(${name} PRIVATE -fno-exceptions)
  endif()
  # LLVM names libraries that only some of its objects need.
  target_link_options(${name} PRIVATE -Wl,--gc-sections,--as-needed)
endfunction()
