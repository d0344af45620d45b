# The rules of `cmake --install`. The tree can be moved afterwards: what names the prefix in it is
# for readers that have nothing better (cmake/clients/install.cmake).

include(CMakePackageConfigHelpers)

if(GEX_CHECKS OR GEX_SANITIZE)
  install(CODE "message(FATAL_ERROR
    \"install from the release build, which holds the checking library as well\")")
  return()
endif()

# gasnet_config.h is written by cmake/clients/install.cmake.
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
  PATTERN gasnet_config.h EXCLUDE)
gex_install(${CMAKE_INSTALL_LIBDIR} gex)
# The archives, which cmake/clients/install.cmake installs.
add_dependencies(installed gex_archive gex_tools_archive)
if(GEX_DEBUG_LIBRARY)
  gex_install(${CMAKE_INSTALL_LIBDIR}/debug gex_debug)
  add_dependencies(installed gex_archive_debug gex_tools_archive_debug)
endif()

install(FILES ${GEX_GENERATED}/include/gex/declared_labels.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gex)
set(gex_conduits ${GEX_CONDUITS})
set(gex_one_machine smp)
foreach(conduit IN LISTS GEX_CONDUITS)
  if(GEX_CONDUIT_${conduit}_ONE_MACHINE)
    list(APPEND gex_one_machine ${conduit})
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/net/${conduit}/${conduit}.md)
    install(FILES src/net/${conduit}/${conduit}.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
  endif()
endforeach()
foreach(conduit IN LISTS GEX_CONDUIT_PLUGINS)
  gex_install(${CMAKE_INSTALL_LIBDIR} gex_${conduit})
  if(GEX_DEBUG_LIBRARY)
    gex_install(${CMAKE_INSTALL_LIBDIR}/debug gex_${conduit}_debug)
  endif()
  foreach(part IN LISTS GEX_CONDUIT_${conduit}_PARTS)
    if(TARGET gex_${conduit}_${part})
      gex_install(${CMAKE_INSTALL_LIBDIR} gex_${conduit}_${part})
      if(GEX_DEBUG_LIBRARY)
        gex_install(${CMAKE_INSTALL_LIBDIR}/debug gex_${conduit}_${part}_debug)
      endif()
    endif()
  endforeach()
endforeach()

include(GexManPages)
include(GexReference)

# The documents by the names that programs and manual pages have for them: docs/gexperf.md.
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN notes EXCLUDE)

set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH GEX_PC_TO_PREFIX /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" GEX_PC_TO_PREFIX ${GEX_PC_TO_PREFIX})
configure_file(cmake/gex.pc.in ${PROJECT_BINARY_DIR}/gex.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gex.pc DESTINATION ${pkgconfig_dir})

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gex)
file(RELATIVE_PATH GEX_CONFIG_TO_PREFIX /${config_dir} /)
configure_package_config_file(cmake/gexConfig.cmake.in ${PROJECT_BINARY_DIR}/gexConfig.cmake
  INSTALL_DESTINATION ${config_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gexConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gexConfig.cmake ${PROJECT_BINARY_DIR}/gexConfigVersion.cmake
  DESTINATION ${config_dir})

# The compiler that clients find here is the one that compiled this, not what started it: a launcher
# such as ccache, which CC="ccache gcc" puts before the compiler and other set-ups name as it.
function(gex_real_compiler variable language)
  set(launchers "^(ccache|sccache|distcc|icecc|colorgcc)$")
  set(compiler ${CMAKE_${language}_COMPILER})
  get_filename_component(name ${compiler} NAME)
  get_filename_component(real ${compiler} REALPATH)
  get_filename_component(real_name ${real} NAME)
  if(name MATCHES "${launchers}")
    separate_arguments(words UNIX_COMMAND "${CMAKE_${language}_COMPILER_ARG1}")
    list(POP_FRONT words name)
  endif()
  if(real_name MATCHES "${launchers}")
    string(REPLACE ":" ";" folders "$ENV{PATH}")
    foreach(folder IN LISTS folders)
      get_filename_component(real ${folder}/${name} REALPATH)
      get_filename_component(real_name ${real} NAME)
      if(EXISTS ${real} AND NOT real_name MATCHES "${launchers}")
        set(compiler ${folder}/${name})
        break()
      endif()
    endforeach()
  endif()
  set(${variable} ${compiler} PARENT_SCOPE)
endfunction()
gex_real_compiler(gex_cc C)
gex_real_compiler(gex_cxx CXX)

# Software that was written for GASNet finds what it looks for. A client can be labelled with the
# networks that this library has; a label names the one on which a job runs that names none.
string(TOUPPER ${CMAKE_C_COMPILER_ID} gex_cc_family)
string(TOUPPER ${CMAKE_CXX_COMPILER_ID} gex_cxx_family)
install(CODE "
  set(gex_build \"${PROJECT_BINARY_DIR}\")
  set(gex_templates \"${PROJECT_SOURCE_DIR}/cmake/clients\")
  set(gex_bin \"${CMAKE_INSTALL_BINDIR}\")
  set(gex_include \"${CMAKE_INSTALL_INCLUDEDIR}\")
  set(gex_lib \"${CMAKE_INSTALL_LIBDIR}\")
  set(gex_share \"${CMAKE_INSTALL_DATADIR}/libgex\")
  set(gex_conduits ${gex_conduits})
  set(gex_one_machine ${gex_one_machine})
  set(gex_cc \"${gex_cc}\")
  set(gex_cc_family \"${gex_cc_family}\")
  set(gex_cxx \"${gex_cxx}\")
  set(gex_cxx_family \"${gex_cxx_family}\")
  set(gex_objcopy \"${GEX_OBJCOPY}\")
  set(gex_processor \"${CMAKE_SYSTEM_PROCESSOR}\")
  set(gex_release \"${GEX_RELEASE}\")")
install(SCRIPT cmake/clients/install.cmake)
