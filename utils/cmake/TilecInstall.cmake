# What `cmake --install` installs: the program, the CMake and pkg-config packages, rules for make, manual and completion.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(tilec_package ${PROJECT_SOURCE_DIR}/utils/package)
set(tilec_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tilec)
set(TILEC_PROGRAM ${CMAKE_INSTALL_BINDIR}/tilec)
configure_package_config_file(${tilec_package}/tilecConfig.cmake.in ${PROJECT_BINARY_DIR}/package/tilecConfig.cmake
  INSTALL_DESTINATION ${tilec_package_folder} PATH_VARS TILEC_PROGRAM)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/tilecConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file(${tilec_package}/tilec.pc.in ${PROJECT_BINARY_DIR}/package/tilec.pc @ONLY)

install(TARGETS tilec tile-run RUNTIME)
install(FILES ${PROJECT_BINARY_DIR}/package/tilecConfig.cmake ${PROJECT_BINARY_DIR}/package/tilecConfigVersion.cmake
  ${tilec_package}/tilecKernels.cmake DESTINATION ${tilec_package_folder})
install(FILES ${PROJECT_BINARY_DIR}/package/tilec.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
install(FILES ${tilec_package}/tilec.mk DESTINATION ${CMAKE_INSTALL_DATADIR}/tilec)
install(FILES ${tilec_package}/tilec.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${tilec_package}/tilec.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tilec)
