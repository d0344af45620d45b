# What `cmake --install` puts where. The tree can be moved afterwards: nothing in it names the prefix.

include(CMakePackageConfigHelpers)

if(GEX_CHECKS OR GEX_SANITIZE)
  install(CODE "message(FATAL_ERROR
    \"install from the release build, which holds the checking library as well\")")
  return()
endif()

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
# What conduit plug-ins are written against (docs/writing-a-conduit.md); clients do not see it.
install(FILES src/net/conduit.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gex/plugin/net)
install(TARGETS gex LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_BINARY_DIR}/lib/libgex.a DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(GEX_DEBUG_LIBRARY)
  install(TARGETS gex_debug LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/debug)
  install(FILES ${PROJECT_BINARY_DIR}/lib/debug/libgex.a
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/debug)
endif()

set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH GEX_PC_TO_PREFIX /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" GEX_PC_TO_PREFIX ${GEX_PC_TO_PREFIX})
configure_file(cmake/gex.pc.in ${PROJECT_BINARY_DIR}/gex.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gex.pc DESTINATION ${pkgconfig_dir})

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gex)
configure_package_config_file(cmake/gexConfig.cmake.in ${PROJECT_BINARY_DIR}/gexConfig.cmake
  INSTALL_DESTINATION ${config_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gexConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gexConfig.cmake ${PROJECT_BINARY_DIR}/gexConfigVersion.cmake
  DESTINATION ${config_dir})
