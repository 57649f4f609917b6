# tilec_add_kernels(TARGET SOURCES file.tile...
#                   [ARCH sm_90a] [DEFINITIONS NAME=VALUE...] [IMPORTS folder...] [OPTIONS option...] [NO_DRIVER])
#
# Compiles each source to a cubin and a header with its launchers, in the folder tilec/TARGET of the binary directory.
# The target includes the headers by their names and is built after them; a change of a source or of anything that it
# imports compiles it again. The property TILEC_CUBINS of the target lists the cubins, for install() and for the program
# to load.
#
#   ARCH         the architecture or card; sm_90a without it
#   DEFINITIONS  values of constants of the kernels, as -D
#   IMPORTS      folders where imports are looked for, as -I; relative to the CMakeLists.txt
#   OPTIONS      further options of tilec
#   NO_DRIVER    do not link the CUDA driver: the target gets it and cuda.h from elsewhere. Without it the target is
#                linked with CUDA::cuda_driver, if CMake finds the CUDA toolkit.

cmake_policy(PUSH)
cmake_policy(VERSION 3.20)

function(tilec_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "NO_DRIVER" "ARCH" "SOURCES;DEFINITIONS;IMPORTS;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilec_add_kernels does not know: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "tilec_add_kernels: `${target}` is not a target")
  endif()
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "tilec_add_kernels: SOURCES lists no file for `${target}`")
  endif()
  set(options ${ARG_OPTIONS})
  if(ARG_ARCH)
    list(APPEND options "--arch=${ARG_ARCH}")
  endif()
  foreach(definition IN LISTS ARG_DEFINITIONS)
    list(APPEND options -D "${definition}")
  endforeach()
  foreach(folder IN LISTS ARG_IMPORTS)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND options -I "${folder}")
  endforeach()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/tilec/${target}")
  file(MAKE_DIRECTORY "${folder}")
  foreach(source IN LISTS ARG_SOURCES)
    cmake_path(GET source STEM LAST_ONLY name)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    set(output "${folder}/${name}")
    add_custom_command(
      OUTPUT "${output}.cubin" "${output}.h"
      COMMAND tilec::tilec "${source}" -o "${output}.cubin" "--header=${output}.h" ${options}
        -MD -MF "${output}.d" -MT "${output}.cubin"
      DEPENDS "${source}" tilec::tilec
      DEPFILE "${output}.d"
      COMMENT "Compiling ${name}.tile"
      VERBATIM)
    target_sources(${target} PRIVATE "${output}.h" "${output}.cubin")
    set_property(TARGET ${target} APPEND PROPERTY TILEC_CUBINS "${output}.cubin")
  endforeach()
  target_include_directories(${target} PRIVATE "${folder}")
  if(NOT ARG_NO_DRIVER)
    find_package(CUDAToolkit QUIET)
    if(TARGET CUDA::cuda_driver)
      # The property, because target_link_libraries() may be used on a target with keywords or without, not both.
      set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES CUDA::cuda_driver)
    endif()
  endif()
endfunction()

cmake_policy(POP)
