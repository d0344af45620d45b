# Manual pages of the installed programs, made of what they print for --help. Included by
# GexInstall.cmake.

find_program(GEX_HELP2MAN help2man)
if(NOT GEX_HELP2MAN OR CMAKE_CROSSCOMPILING)
  message(STATUS "No manual pages: they take help2man, and programs that run on this machine")
  return()
endif()

set(man_folder ${PROJECT_BINARY_DIR}/man)
set(man_pages "")
file(MAKE_DIRECTORY ${man_folder})

# man_page(<page> <target> <what it is>): the page of a program; where it is not the target's name, the
# target is run under it. The target may be a script's file instead.
function(man_page page target about)
  set(program ${target})
  if(TARGET ${target})
    set(program $<TARGET_FILE:${target}>)
  endif()
  set(under_its_name "")
  if(TARGET ${target} AND NOT page STREQUAL target)
    set(program ${man_folder}/${page})
    set(under_its_name COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:${target}> ${program})
  endif()
  add_custom_command(OUTPUT ${man_folder}/${page}.1
    ${under_its_name}
    COMMAND ${CMAKE_COMMAND} -D help2man=${GEX_HELP2MAN} -D program=${program} -D about=${about}
      -D version=${PROJECT_VERSION} -D page=${man_folder}/${page}.1
      -P ${PROJECT_SOURCE_DIR}/cmake/man/page.cmake
    DEPENDS ${target} cmake/man/page.cmake cmake/man/sections.h2m
    COMMENT "Writing the manual page ${page}.1"
    VERBATIM)
  set(man_pages ${man_pages} ${man_folder}/${page}.1 PARENT_SCOPE)
endfunction()

man_page(gexrun gexrun "start a job of libgex, on one host or on several")
man_page(gexinfo gexinfo "report what this libgex and this machine can do")
man_page(gexperf gexperf "measure the limits of a machine, and libgex against them")
man_page(gextrace gextrace "make a timeline and a summary of the trace of a job")
man_page(gasnetrun gasnetrun "gexrun with the options of GASNet's launch scripts")
man_page(amudprun gasnetrun "gexrun with the options of GASNet's launcher of that name")
if(TARGET ft)
  man_page(ft ft "the NAS FT benchmark in three variants of one-sided communication")
endif()
if(TARGET gex_upcxx)
  set(upcxx_tools ${PROJECT_BINARY_DIR}/upcxx)
  man_page(upcxx ${upcxx_tools}/upcxx "compile and link a program that uses UPC++")
  man_page(upcxx-info ${upcxx_tools}/upcxx-info "report what this installation of UPC++ has")
  man_page(upcxx-meta ${upcxx_tools}/upcxx-meta "print what UPC++ is compiled and linked with")
  man_page(upcxx-run ${upcxx_tools}/upcxx-run "start a program that uses UPC++")
endif()

# The names of gasnetrun that are installed as links to it have links to its page.
foreach(conduit IN LISTS gex_conduits)
  file(WRITE ${man_folder}/gasnetrun_${conduit}.1 ".so man1/gasnetrun.1\n")
  list(APPEND man_pages ${man_folder}/gasnetrun_${conduit}.1)
endforeach()

add_custom_target(man_pages ALL DEPENDS ${man_pages})
add_dependencies(installed man_pages)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
