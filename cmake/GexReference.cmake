# The reference of the interface, of the comments in the public headers: in HTML, and as manual pages of
# section 3. The target docs makes both. Included by GexInstall.cmake.

find_program(GEX_DOXYGEN doxygen)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT GEX_DOXYGEN OR NOT Python3_FOUND)
  message(STATUS "No reference of the interface (man 3, HTML): it takes doxygen and python3")
  return()
endif()
message(STATUS "Reference of the interface (man 3, HTML): made by ${GEX_DOXYGEN}")

set(reference ${PROJECT_BINARY_DIR}/reference)
set(doxyfile ${PROJECT_BINARY_DIR}/Doxyfile)
configure_file(cmake/doxygen/Doxyfile.in ${doxyfile} @ONLY)
file(GLOB headers CONFIGURE_DEPENDS include/*.h include/gex/*.h)

add_custom_command(OUTPUT ${reference}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${reference}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${reference}
  COMMAND ${GEX_DOXYGEN} ${doxyfile}
  COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tools/make-man-pages ${reference}/xml
    ${reference}/man3 ${PROJECT_VERSION}
  COMMAND ${CMAKE_COMMAND} -E touch ${reference}/made
  DEPENDS ${headers} ${doxyfile} cmake/doxygen/mainpage.md tools/make-man-pages
  COMMENT "Writing the reference of the interface"
  VERBATIM)
# A project around this one may have a target of that name.
set(docs docs)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(docs gex_docs)
endif()
add_custom_target(${docs} ALL DEPENDS ${reference}/made)
add_dependencies(installed ${docs})
install(DIRECTORY ${reference}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${reference}/html/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/reference)
