# The networks of src/net. A folder there with a file conduit.cmake is one, and declares itself: nothing
# outside the folder names it. Beside its sources a folder has
#
#   conduit.cmake      gex_conduit(...), below
#   environment.def    its rows of the environment table, if it has any (cmake/GexEnvironment.cmake)
#   cover.txt          its lines of the conformance suite's cover (tests/jobs/conformance/cover.py)
#   promises.inc       its subjects of the tests of conduits' promises (tests/unit/net_conduit/promise.h)
#   <name>.md          its page of documentation, or there is docs/<name>.md
#   CMakeLists.txt     of a plug-in that needs more than gex_conduit_plugin(<name>): looks for what it
#                      links, and calls that, or does not and prints why the network is not built
#
# What is made of these lies in GEX_GENERATED; its folder `include` is for clients too.

set(GEX_GENERATED ${PROJECT_BINARY_DIR}/generated)

# gex_conduit(<name> BUILT_IN|PLUGIN [ONE_MACHINE] [PREFERENCE <n>] [CHECKING <sources>...]
#             [NEEDS <libraries>...] [PARTS <parts>...])
# A network of the library itself, whose gex::net::<name>::conduit() returns its table, or the plug-in
# libgex-<name>.so. ONE_MACHINE: it joins the processes of one machine. PREFERENCE: it may be chosen where
# no network is named, of those that are equally good here the one with the highest number; 1 to 9 are
# last resorts, 50 is usual (docs/which-way.md). Without it only its name chooses it. CHECKING: sources of
# a plug-in that check their own state in the checking form. NEEDS: libraries that the plug-in may need at
# run time, as the loader names them. PARTS: what the plug-in may load of further files beside it
# (gex_conduit_part).
set(GEX_DECLARED_CONDUITS "")
macro(gex_conduit name)
  cmake_parse_arguments(conduit "BUILT_IN;PLUGIN;ONE_MACHINE" "PREFERENCE" "CHECKING;NEEDS;PARTS"
    ${ARGN})
  if(NOT "${name}" MATCHES "^[a-z][a-z0-9]*$" OR conduit_UNPARSED_ARGUMENTS
      OR (conduit_BUILT_IN AND conduit_PLUGIN) OR NOT (conduit_BUILT_IN OR conduit_PLUGIN))
    message(FATAL_ERROR "gex_conduit(${name}): BUILT_IN or PLUGIN is needed, and a name of small "
      "letters and digits; not understood: '${conduit_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT "${conduit_PREFERENCE}" MATCHES "^([1-9][0-9]?)?$")
    message(FATAL_ERROR "gex_conduit(${name}): PREFERENCE ${conduit_PREFERENCE}: expected 1 to 99")
  endif()
  list(APPEND GEX_DECLARED_CONDUITS ${name})
  foreach(property BUILT_IN ONE_MACHINE PREFERENCE CHECKING NEEDS PARTS)
    set(GEX_CONDUIT_${name}_${property} "${conduit_${property}}")
  endforeach()
endmacro()

# gex_write(<file> <content>): leaves a file alone that has this content.
function(gex_write file content)
  set(old "")
  if(EXISTS ${file})
    file(READ ${file} old)
  endif()
  if(NOT EXISTS ${file} OR NOT old STREQUAL content)
    file(WRITE ${file} "${content}")
  endif()
endfunction()

file(GLOB declarations CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/net/*/conduit.cmake)
file(STRINGS ${PROJECT_SOURCE_DIR}/include/gex/mode.h labels
  REGEX "^#(el)?if defined\\(GASNET_CONDUIT_[A-Z0-9]+\\)$")
file(READ ${PROJECT_SOURCE_DIR}/cmd/gasnetrun/spawner.def.in spawner_row)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/gex/mode.h
  cmd/gasnetrun/spawner.def.in)
set(header "// Written when the build is configured: cmake/GexConduits.cmake.\n")
set(conduit_table "${header}")
set(spawner_table "${header}")
set(promises "${header}")
set(subjects "")
set(label_list "/* Labels of networks that gex/mode.h does not have: part of it. Written when the library is
 * configured, from what src/net declares.
 */
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif\n")
set(if "#if")
foreach(declaration IN LISTS declarations)
  include(${declaration})
  get_filename_component(folder ${declaration} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  if(NOT name IN_LIST GEX_DECLARED_CONDUITS)
    message(FATAL_ERROR "${declaration} does not declare the conduit ${name}")
  endif()
  string(TOUPPER ${name} NAME)
  # What is there when it is looked for counts.
  file(GLOB parts CONFIGURE_DEPENDS ${folder}/promises.inc ${folder}/${name}.md
    ${folder}/CMakeLists.txt ${folder}/cover.txt)
  set(include_promises "")
  if(EXISTS ${folder}/promises.inc)
    set(include_promises "#include \"${folder}/promises.inc\"\n")
  endif()
  string(CONFIGURE "${spawner_row}" row @ONLY)
  string(APPEND spawner_table "${row}")
  if(GEX_CONDUIT_${name}_BUILT_IN)
    set(form GEX_BUILT_IN_CONDUIT)
    if(include_promises)
      string(APPEND promises "${include_promises}")
      string(APPEND subjects "      ${name}_subjects,\n")
    endif()
  else()
    set(form GEX_PLUGIN_CONDUIT)
    if(include_promises)
      string(APPEND promises "#ifdef GEX_${NAME}_CONDUIT\n${include_promises}#endif\n")
      string(APPEND subjects
        "#ifdef GEX_${NAME}_CONDUIT\n      ${name}_subjects,\n#endif\n")
    endif()
  endif()
  string(TOLOWER "${GEX_CONDUIT_${name}_ONE_MACHINE}" one_machine)
  set(preference 0)
  if(GEX_CONDUIT_${name}_PREFERENCE)
    set(preference ${GEX_CONDUIT_${name}_PREFERENCE})
  endif()
  string(APPEND conduit_table "${form}(${name}, ${one_machine}, ${preference})\n")
  if(NOT labels MATCHES "defined\\(GASNET_CONDUIT_${NAME}\\)")
    string(APPEND label_list "${if} defined(GASNET_CONDUIT_${NAME})
#define GASNET_CONDUIT_NAME ${NAME}
#define GEX_CONDUIT_NAME_ \"${name}\"\n")
    if(GEX_CONDUIT_${name}_ONE_MACHINE)
      string(APPEND label_list "#define GEX_LABEL_OF_ONE_MACHINE_ 1\n")
    endif()
    set(if "#elif")
  endif()
  if(NOT EXISTS ${folder}/${name}.md AND NOT EXISTS ${PROJECT_SOURCE_DIR}/docs/${name}.md)
    message(FATAL_ERROR "the conduit ${name} has no page of documentation: ${folder}/${name}.md")
  endif()
endforeach()
if(if STREQUAL "#elif")
  string(APPEND label_list "#endif\n")
endif()
gex_write(${GEX_GENERATED}/declared_conduits.def "${conduit_table}")
gex_write(${GEX_GENERATED}/declared_spawners.def "${spawner_table}")
string(APPEND promises "
std::vector<std::vector<Subject>> declared_subjects() {
  return {
${subjects}  };
}
")
gex_write(${GEX_GENERATED}/declared_promises.inc "${promises}")
gex_write(${GEX_GENERATED}/include/gex/declared_labels.h "${label_list}")

# gex_links(<variable> <target>): whether the library of an imported target can be linked. A cross build
# finds this machine's library where nothing leads it to the other's.
include(CheckCXXSourceCompiles)
function(gex_links variable target)
  if(NOT TARGET ${target})
    set(${variable} OFF PARENT_SCOPE)
  elseif(NOT CMAKE_CROSSCOMPILING)
    set(${variable} ON PARENT_SCOPE)
  else()
    set(CMAKE_REQUIRED_LIBRARIES ${target})
    string(MAKE_C_IDENTIFIER "gex_links_${target}" links)
    check_cxx_source_compiles("int main() { return 0; }" ${links})
    set(${variable} ${${links}} PARENT_SCOPE)
  endif()
endfunction()

# gex_conduit_objects(<target> <output> SOURCES <sources>... CHECKING <sources>... LINK <targets>...):
# the module <output> of these sources beside each library that it serves, <target> and <target>_debug.
function(gex_conduit_objects target output)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;CHECKING;LINK")
  set(targets ${target})
  if(GEX_DEBUG_LIBRARY)
    list(APPEND targets ${target}_debug)
  endif()
  # What does not depend on the form is compiled once.
  add_library(${target}_objects OBJECT ${arg_SOURCES})
  gex_join_sources(${target}_objects INLINED)
  foreach(one IN LISTS targets)
    add_library(${one} MODULE ${arg_CHECKING} $<TARGET_OBJECTS:${target}_objects>)
    set(folder ${PROJECT_BINARY_DIR}/lib)
    set(checks ${GEX_CHECKS})
    if(one MATCHES "_debug$")
      string(APPEND folder /debug)
      set(checks ON)
    endif()
    target_compile_definitions(${one} PRIVATE "$<$<BOOL:${checks}>:GEX_DEBUG=1;GEX_ASSERTIONS=1>")
    set_target_properties(${one} PROPERTIES OUTPUT_NAME ${output} LINKER_LANGUAGE CXX
      LIBRARY_OUTPUT_DIRECTORY ${folder})
    if(NOT GEX_SANITIZE)
      target_link_options(${one} PRIVATE -Wl,--no-undefined)
    endif()
  endforeach()
  foreach(one ${target}_objects ${targets})
    target_link_libraries(${one} PRIVATE gex_flags ${arg_LINK})
    target_include_directories(${one} PRIVATE ${PROJECT_SOURCE_DIR}/include
      ${PROJECT_SOURCE_DIR}/src)
    set_target_properties(${one} PROPERTIES POSITION_INDEPENDENT_CODE ON
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    gex_module_headers(${one})
  endforeach()
endfunction()

# gex_conduit_plugin(<name> [LINK <targets>...]): builds libgex-<name>.so of the sources of the calling
# folder and of src/net/kit, beside each library that it serves: the target gex_<name>, and
# gex_<name>_debug. It links nothing of libgex.
function(gex_conduit_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  set(here ${PROJECT_SOURCE_DIR}/src/net/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${here}/*.cc ${here}/../kit/*.cc)
  list(TRANSFORM sources REPLACE "/${name}/\\.\\./" "/")
  set(checking ${GEX_CONDUIT_${name}_CHECKING})
  list(TRANSFORM checking PREPEND ${here}/)
  if(checking)
    list(REMOVE_ITEM sources ${checking})
  endif()
  gex_conduit_objects(gex_${name} gex-${name} SOURCES ${sources} CHECKING ${checking}
    LINK ${arg_LINK})
endfunction()

# gex_conduit_part(<name> <part> FOLDER <folder> [LINK <targets>...]): libgex-<name>-<part>.so, which
# the plug-in loads, of the sources of a folder of the network's and of src/net/kit: gex_<name>_<part>.
function(gex_conduit_part name part)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "FOLDER" "LINK")
  set(net ${PROJECT_SOURCE_DIR}/src/net)
  file(GLOB sources CONFIGURE_DEPENDS ${net}/${name}/${arg_FOLDER}/*.cc ${net}/kit/*.cc)
  gex_conduit_objects(gex_${name}_${part} gex-${name}-${part} SOURCES ${sources} LINK ${arg_LINK})
  add_dependencies(gex_${name} gex_${name}_${part})
  if(TARGET gex_${name}_debug)
    add_dependencies(gex_${name}_debug gex_${name}_${part}_debug)
  endif()
endfunction()

# gex_add_conduit_plugins(): the plug-ins of src/net that can be built here. Afterwards GEX_CONDUITS has
# the networks of this build, and GEX_CONDUIT_PLUGINS those of them that are plug-ins.
macro(gex_add_conduit_plugins)
  set(GEX_CONDUITS smp)
  set(GEX_CONDUIT_PLUGINS "")
  foreach(name IN LISTS GEX_DECLARED_CONDUITS)
    if(GEX_CONDUIT_${name}_BUILT_IN)
      list(APPEND GEX_CONDUITS ${name})
    endif()
  endforeach()
  foreach(name IN LISTS GEX_DECLARED_CONDUITS)
    if(NOT GEX_CONDUIT_${name}_BUILT_IN)
      if(EXISTS ${PROJECT_SOURCE_DIR}/src/net/${name}/CMakeLists.txt)
        add_subdirectory(${PROJECT_SOURCE_DIR}/src/net/${name}
          ${PROJECT_BINARY_DIR}/src/net/${name})
      else()
        gex_conduit_plugin(${name})
      endif()
      if(TARGET gex_${name})
        list(APPEND GEX_CONDUITS ${name})
        list(APPEND GEX_CONDUIT_PLUGINS ${name})
      endif()
    endif()
  endforeach()
endmacro()
