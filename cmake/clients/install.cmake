# Run by `cmake --install`: what software that was written for GASNet looks for in an installed tree.
#
# The names and their meaning are the reference's: Makefile fragments, .pc files, archives, launchers,
# and the build folder that UPC++ asks for. They are written here because they name the prefix, which
# is known now: some software reads these files as text, without make or pkg-config. Both of these
# find the tree where it is, so it may be moved.
#
# Given by GexInstall.cmake:
#   gex_build, gex_templates      the build tree, the folder of this file
#   gex_lib, gex_bin, gex_include, gex_share   folders below the prefix
#   gex_conduits                  networks a client can be labelled with
#   gex_one_machine               those of them that work on one machine only
#   gex_cc, gex_cc_family, gex_cxx, gex_cxx_family
#   gex_objcopy                   which writes the prefix into the archives
#   gex_processor                 the processor that is compiled for
#   gex_release                   the release whose interface this is

cmake_policy(VERSION 3.22)
set(modes seq parsync par)
set(tools_modes seq par)
get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
# Installations may run side by side, and by other users after this one.
string(RANDOM LENGTH 12 installation)
set(staging ${gex_build}/clients-${installation})

# Every file below is described by `fields`, names and values in turn, in which <prefix> stands for
# the prefix.

# settings(<stem> <defines> <includes> <library> [DEBUG]): the fields of one flavour; DEBUG: of a client
# that is debugged, with the checking library.
function(settings stem defines includes library)
  # Without what names every function of a client's header that one of its files does not use, and
  # every test of an address in a macro of a client's.
  set(warnings "-Wall -Wno-unused -Wno-unused-parameter -Wno-address")
  set(optimise -O3)
  set(optimise_c -O3<limits>)
  set(libdirs -L<prefix>/${gex_lib})
  if("DEBUG" IN_LIST ARGN)
    set(optimise "-O0 -g")
    string(APPEND defines " -DGASNET_DEBUG")
    set(libdirs "-L<prefix>/${gex_lib}/debug ${libdirs}")
    set(optimise_c ${optimise})
  endif()
  # No value is empty, because scripts take an empty one for a missing one. Where nothing is needed
  # stands what is given elsewhere anyway. That goes for the words of LDFLAGS other than libraries and
  # their folders, too, which CMake keeps apart.
  set(nothing -D_GNU_SOURCE=1)
  set(fields
    PREFIX "<prefix>"
    CC "${gex_cc}"
    OPT_CFLAGS "${optimise_c}"
    MISC_CFLAGS "${nothing}"
    MISC_CPPFLAGS "${nothing}"
    DEVWARN_CFLAGS "${warnings}"
    CXX "${gex_cxx}"
    OPT_CXXFLAGS "${optimise}"
    MISC_CXXFLAGS "${nothing}"
    MISC_CXXCPPFLAGS "${nothing}"
    DEVWARN_CXXFLAGS "${warnings}"
    DEFINES "${defines}"
    INCLUDES "${includes}"
    LIBDIRS "${libdirs}"
    CFLAGS "${optimise_c}"
    CPPFLAGS "${defines} ${includes}"
    CXXFLAGS "${optimise}"
    CXXCPPFLAGS "${defines} ${includes}"
    LD "${gex_cc}"
    LDFLAGS "${optimise} ${libdirs}"
    LIBS "${libdirs} -l${library} -lpthread -ldl -lm"
    LD_REQUIRES_MPI 0
    LD_REQUIRES_CXX 0)
  if(stem STREQUAL "GASNET")
    list(APPEND fields
      SPAWNER_DEFAULT fork SPAWNER_FORK 1 SPAWNER_PMI 0 SPAWNER_MPI 0 SPAWNER_SSH ${ssh})
  endif()
  set(fields "${fields}" PARENT_SCOPE)
endfunction()

# GCC stops inlining in a source that has grown much by it, as sources that a compiler of another language
# has generated do. With these limits all calls of such a source are inlined, as with the reference's
# fragments. Other compilers have no such options, so that these are in fragments alone, which name the
# compiler, and make drops them with another.
set(limits "")
if(gex_cc_family STREQUAL "GNU")
  string(CONCAT limits " --param max-inline-insns-single=35000 --param inline-unit-growth=10000"
    " --param large-function-growth=200000")
endif()

# lines(<variable> <stem> <assign> <prefix> <limits>): a line for each field.
function(lines variable stem assign place limits)
  set(text "")
  while(fields)
    list(POP_FRONT fields name value)
    string(APPEND text "${stem}_${name}${assign}${value}\n")
  endwhile()
  string(REPLACE "<prefix>" "${place}" text "${text}")
  string(REPLACE "<limits>" "${limits}" text "${text}")
  string(REGEX REPLACE " +\n" "\n" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# fragment(<file> <stem> <to prefix>): the Makefile fragment <file>, from whose folder <to prefix>
# leads to the prefix.
function(fragment file stem to_prefix)
  lines(lines ${stem} " = " "${prefix}" "${limits}")
  configure_file(${gex_templates}/fragment.mak.in ${staging}/${file} @ONLY)
endfunction()

# package(<name> <stem> <description>): the file that pkg-config reads.
function(package name stem description)
  lines(lines ${stem} "=" "\${${stem}_PREFIX}" "")
  string(REPLACE "${stem}_PREFIX=\${${stem}_PREFIX}\n" "" lines "${lines}")
  file(RELATIVE_PATH to_prefix /${gex_lib}/pkgconfig /)
  string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
  configure_file(${gex_templates}/package.pc.in ${staging}/${gex_lib}/pkgconfig/${name}.pc @ONLY)
endfunction()

# installed_archives(<folder> <built>): the archives in <built> of the build tree; libgex.a holds the name
# of the folder that it is installed in, where its programs look for plug-ins (src/net/registry.cc).
function(installed_archives folder built)
  set(place ${prefix}/${folder})
  string(LENGTH "${place}" length)
  math(EXPR padding "4096 - ${length}")
  string(REPEAT "\n" ${padding} padding)
  file(WRITE ${staging}.folder "${place}${padding}")
  file(MAKE_DIRECTORY ${staging}/${folder})
  execute_process(
    COMMAND ${gex_objcopy} --update-section .gex.installed=${staging}.folder
      ${gex_build}/${built}/libgex.a ${staging}/${folder}/libgex.a
    COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${staging}.folder)
  file(COPY ${gex_build}/${built}/libgex_tools.a DESTINATION ${staging}/${folder})
endfunction()

# archive(<name> <archive>): one library serves every network and mode; <name> is another name of its
# archive, and of the checking library's where there is one.
function(archive name archive)
  foreach(folder ${gex_lib} ${gex_lib}/debug)
    if(folder STREQUAL gex_lib OR EXISTS ${gex_build}/lib/debug/libgex.a)
      file(MAKE_DIRECTORY ${staging}/${folder})
      file(CREATE_LINK ${archive} ${staging}/${folder}/lib${name}.a SYMBOLIC)
    endif()
  endforeach()
endfunction()

# empty_archive(<name>): what build scripts name beside the archive of a network; all is in that.
function(empty_archive name)
  foreach(folder ${gex_lib} ${gex_lib}/debug)
    if(EXISTS ${staging}/${folder})
      file(WRITE ${staging}/${folder}/lib${name}.a "!<arch>\n")
    endif()
  endforeach()
endfunction()

function(launcher name)
  file(MAKE_DIRECTORY ${staging}/${gex_bin})
  file(CREATE_LINK gasnetrun ${staging}/${gex_bin}/${name} SYMBOLIC)
endfunction()

installed_archives(${gex_lib} lib)
set(upcxx_archives ${gex_lib}/libgex.a)
set(upcxx_libraries "${gex_lib}/libgex* ${gex_lib}/libgasnet* ${gex_lib}/pkgconfig/gasnet*.pc")
set(gex_has_debug OFF)
if(EXISTS ${gex_build}/lib/debug/libgex.a)
  set(gex_has_debug ON)
  installed_archives(${gex_lib}/debug lib/debug)
  string(APPEND upcxx_archives " ${gex_lib}/debug/libgex.a")
  string(APPEND upcxx_libraries " ${gex_lib}/debug")
endif()
launcher(amudprun)
foreach(conduit IN LISTS gex_conduits)
  string(TOUPPER ${conduit} label)
  set(folder ${gex_include}/${conduit}-conduit)
  launcher(gasnetrun_${conduit})
  configure_file(${gex_templates}/gasnet_core.h.in ${staging}/${folder}/gasnet_core.h @ONLY)
  foreach(mode IN LISTS modes)
    string(TOUPPER ${mode} threads)
    set(defines "-D_GNU_SOURCE=1 -DGASNET_${threads} -DGASNET_CONDUIT_${label}=1")
    if(NOT mode STREQUAL "seq")
      string(APPEND defines " -D_REENTRANT")
    endif()
    archive(gasnet-${conduit}-${mode} libgex.a)
    # Where its launcher starts ranks on other hosts.
    set(ssh 1)
    if(conduit IN_LIST gex_one_machine)
      set(ssh 0)
    endif()
    settings(GASNET "${defines}" "-I<prefix>/${gex_include} -I<prefix>/${folder}"
      gasnet-${conduit}-${mode})
    fragment(${folder}/${conduit}-${mode}.mak GASNET ../..)
    package(gasnet-${conduit}-${mode} GASNET
      "GASNet-EX as libgex provides it, network ${conduit}, threads ${mode}")
    if(NOT mode STREQUAL "parsync")
      fragment(${gex_share}/upcxx/${conduit}-conduit/${conduit}-${mode}.mak GASNET ../../../..)
      if(gex_has_debug)
        settings(GASNET "${defines}" "-I<prefix>/${gex_include} -I<prefix>/${folder}"
          gasnet-${conduit}-${mode} DEBUG)
        fragment(${gex_share}/upcxx-debug/${conduit}-conduit/${conduit}-${mode}.mak GASNET ../../../..)
      endif()
    endif()
  endforeach()
endforeach()

foreach(mode IN LISTS tools_modes)
  set(defines "-D_GNU_SOURCE=1 -DGASNETT_THREAD_SINGLE")
  if(NOT mode STREQUAL "seq")
    set(defines "-D_GNU_SOURCE=1 -DGASNETT_THREAD_SAFE -D_REENTRANT")
  endif()
  archive(gasnet_tools-${mode} libgex_tools.a)
  settings(GASNETTOOLS "${defines}" "-I<prefix>/${gex_include}" gasnet_tools-${mode})
  fragment(${gex_include}/gasnet_tools-${mode}.mak GASNETTOOLS ..)
  package(gasnet_tools-${mode} GASNETTOOLS "GASNet tools as libgex provides them, threads ${mode}")
endforeach()

if(udp IN_LIST gex_conduits)
  empty_archive(amudp)
endif()
if(mpi IN_LIST gex_conduits)
  empty_archive(ammpi)
endif()

# What scripts read of the build, beside what is the same in every one.
list(JOIN gex_conduits " " conduit_names)
file(READ ${gex_templates}/../../include/gasnet_config.h config)
string(REPLACE "#define GASNETI_CONDUITS \"smp\"" "#define GASNETI_CONDUITS \"${conduit_names}\"" config
  "${config}")
string(REPLACE "x86_64-unknown-linux-gnu" "${gex_processor}-unknown-linux-gnu" config "${config}")
file(WRITE ${staging}/${gex_include}/gasnet_config.h "${config}")

# The folders UPC++ is configured with (docs/porting.md): they look like build folders, and a source
# folder, of the reference.
set(upcxx_files
  "${gex_include}/gex ${gex_include}/gasnet*.h ${gex_include}/gasnet_tools-*.mak"
  "${upcxx_libraries}"
  "${gex_bin}/gexrun ${gex_bin}/gexinfo ${gex_bin}/gasnetrun* ${gex_bin}/amudprun")
foreach(conduit IN LISTS gex_conduits)
  list(APPEND upcxx_files ${gex_include}/${conduit}-conduit)
endforeach()
list(JOIN upcxx_files " " upcxx_files)
# UPC++ has networks by name, and these alone.
set(upcxx_conduits ${gex_conduits})
list(FILTER upcxx_conduits INCLUDE REGEX "^(smp|udp|mpi|ibv|aries|ofi|ucx)$")
list(JOIN upcxx_conduits " " upcxx_conduits)
set(upcxx_folders upcxx)
if(gex_has_debug)
  list(APPEND upcxx_folders upcxx-debug)
endif()
set(to_prefix ../../..)

# upcxx_launcher(<folder> <name>): a launcher where UPC++'s scripts look for it before it is installed.
function(upcxx_launcher folder name)
  foreach(place ${folder} bin)
    file(MAKE_DIRECTORY ${facade}/${place})
    string(REGEX REPLACE "[^/]+" ".." up ${place})
    file(CREATE_LINK ${up}/${to_prefix}/${gex_bin}/${name} ${facade}/${place}/${name} SYMBOLIC)
  endforeach()
endfunction()

foreach(upcxx_folder IN LISTS upcxx_folders)
  set(facade ${staging}/${gex_share}/${upcxx_folder})
  set(upcxx_place ${prefix}/${gex_share}/${upcxx_folder})
  foreach(conduit IN LISTS gex_conduits)
    configure_file(${gex_templates}/upcxx/conduit.mk.in ${facade}/${conduit}-conduit/Makefile @ONLY)
    upcxx_launcher(${conduit}-conduit/contrib gasnetrun_${conduit})
  endforeach()
  upcxx_launcher(other/amudp amudprun)
  configure_file(${gex_templates}/upcxx/Makefile.in ${facade}/Makefile @ONLY)
  configure_file(${gex_templates}/upcxx/config.status.in ${facade}/config.status @ONLY)
  file(CHMOD ${facade}/config.status
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  file(CREATE_LINK ${to_prefix}/${gex_include}/gasnet_config.h ${facade}/gasnet_config.h SYMBOLIC)
  file(CREATE_LINK ../${to_prefix}/${gex_include}/gasnet_portable_platform.h
    ${facade}/other/gasnet_portable_platform.h SYMBOLIC)
endforeach()

file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}" TYPE DIRECTORY USE_SOURCE_PERMISSIONS
  FILES ${staging}/)
file(REMOVE_RECURSE ${staging})
