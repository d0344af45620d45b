# How a program, a client and a test of libgex are declared.

# The rooms of src/, in the order in which they may include one another: a room sees those before it.
set(GEX_ROOMS base tools job launch shm net core kinds observe way am rma team vis atomic coll legacy api)
# The rooms that stand aside: api alone sees them.
set(GEX_ROOMS_ASIDE tools launch kinds)
# The rooms of the library that is for programs of gasnet_tools.h alone.
set(GEX_ROOMS_OF_TOOLS base tools)
# The rooms in which nothing depends on whether the library checks usage: both forms take the same
# objects (structure.compiled_once).
set(GEX_ROOMS_WITHOUT_CHECKS base job launch shm)

# Flags for everything compiled here.
add_library(gex_flags INTERFACE)
target_compile_options(gex_flags INTERFACE -Wall -Wextra -Wpedantic)
# For clients the public headers are system headers (gex/platform.h).
target_compile_definitions(gex_flags INTERFACE GEX_SHOW_WARNINGS_=1)
if(GEX_WERROR)
  target_compile_options(gex_flags INTERFACE -Werror)
endif()
target_link_libraries(gex_flags INTERFACE Threads::Threads)
# base/assert.h; a checking library has assertions wherever it is built.
if(GEX_SANITIZE OR GEX_CHECKS)
  target_compile_definitions(gex_flags INTERFACE GEX_ASSERTIONS=1)
endif()
# --enable-new-dtags: LD_LIBRARY_PATH selects the checking library for our programs, whatever the
# linker does by default.
target_link_options(gex_flags INTERFACE -Wl,-z,relro,-z,now -Wl,--enable-new-dtags)

# GCC collects its garbage each time its memory has doubled from 128 MiB, which is a tenth of compiling;
# without that a source takes a fifth more memory.
if(PROJECT_IS_TOP_LEVEL)
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>")
endif()

# What a conduit plug-in needs of libgex: headers, and nothing to link. An installed libgex has a target
# of this name too.
add_library(gex_plugin INTERFACE)
target_include_directories(gex_plugin INTERFACE ${PROJECT_SOURCE_DIR}/include)
add_library(gex::plugin ALIAS gex_plugin)

if(GEX_SANITIZE)
  add_compile_options(-fsanitize=${GEX_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GEX_SANITIZE})
  # Its checks as calls: inline they are a fourth of compiling.
  if(GEX_SANITIZE MATCHES "address")
    add_compile_options(
      "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=asan-instrumentation-with-call-threshold=0>")
  endif()
  # What AddressSanitizer sees as well, without a check of each access beside its own, and of each sum of a
  # pointer.
  if(GEX_SANITIZE MATCHES "address" AND GEX_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=null,object-size,pointer-overflow,vptr)
  endif()
endif()

# Standard headers that many sources include. They are most of what a source compiles, so a set of
# targets with equal options compiles them once (gex_precompile). Sources name what they use all the
# same: the preset clang, whose compile commands clang-tidy takes, precompiles nothing. A source that has
# them instantiates what their inline functions use: <filesystem>, <fstream> and <sstream>, which few
# include, would be a third of compiling an empty one.
set(GEX_STANDARD_HEADERS algorithm array atomic bit cerrno charconv chrono cstddef cstdint cstdio
  cstdlib cstring functional iterator limits map memory mutex new optional set span string string_view
  thread tuple type_traits unordered_map utility vector)

# gex_precompile(<target> [<headers>...]): compiles these headers and the standard ones once for the
# target, and for others that call target_precompile_headers(<other> REUSE_FROM <target>).
function(gex_precompile target)
  list(TRANSFORM GEX_STANDARD_HEADERS REPLACE "(.+)" "<\\1>" OUTPUT_VARIABLE headers)
  list(APPEND headers ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# GCC 12 takes what it inlines of std::string for mistakes (its bug 105651), and does not take precompiled
# headers for the system's.
set(gex_without_warnings_of_precompiled "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(gex_without_warnings_of_precompiled -Wno-array-bounds -Wno-restrict -Wno-stringop-overread
    -Wno-stringop-overflow)
endif()

# gex_program_headers(<target>), gex_module_headers(<target>): the sources of a program, or of a plug-in or
# a shared library's objects, find the standard headers precompiled. They have the build's own options.
foreach(kind program module)
  set(headers gex_headers_of_${kind}s)
  add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
  target_link_libraries(${headers} PRIVATE gex_flags)
  gex_precompile(${headers})
endforeach()
set_target_properties(gex_headers_of_modules PROPERTIES POSITION_INDEPENDENT_CODE ON)
function(gex_program_headers target)
  target_compile_options(${target} PRIVATE ${gex_without_warnings_of_precompiled})
  target_precompile_headers(${target} REUSE_FROM gex_headers_of_programs)
endfunction()
function(gex_module_headers target)
  target_compile_options(${target} PRIVATE ${gex_without_warnings_of_precompiled})
  target_precompile_headers(${target} REUSE_FROM gex_headers_of_modules)
endfunction()

# gex_join_sources(<target> [INLINED]): several sources of the target are compiled as one, where the build
# allows it. Its sources need names of their own then, even for what is theirs alone. INLINED: as much is
# inlined as if each were compiled alone.
option(GEX_JOIN_SOURCES "Compile several sources as one" ON)
function(gex_join_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INLINED" "" "")
  if(GEX_JOIN_SOURCES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    # What a source defines seems to be a header's, whose unnamed namespace differs from place to place.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    if(arg_INLINED)
      target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=large-unit-insns=1000000>)
    endif()
  endif()
endfunction()

# gex_compile_lightly(<sources of the calling folder>... | TARGET <target>): what starts processes, reads
# command lines or writes reports takes longer to optimise than to run.
function(gex_compile_lightly)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET" "")
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    if(arg_TARGET)
      target_compile_options(${arg_TARGET} PRIVATE -Og)
    else()
      set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -Og)
    endif()
  endif()
endfunction()

# What is installed, and no more: `cmake --build . --target installed`, then `cmake --install .`.
if(GEX_INSTALL)
  add_custom_target(installed)
endif()

# gex_install(<folder> <targets>...): installs programs or libraries in a folder below the prefix.
function(gex_install folder)
  if(GEX_INSTALL)
    install(TARGETS ${ARGN} DESTINATION ${folder})
    add_dependencies(installed ${ARGN})
  endif()
endfunction()

# gex_add_subdirectories(<folder>): every subfolder of <folder> that has a CMakeLists.txt.
function(gex_add_subdirectories folder)
  file(GLOB lists CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*/CMakeLists.txt)
  foreach(list IN LISTS lists)
    get_filename_component(directory ${list} DIRECTORY)
    add_subdirectory(${directory})
  endforeach()
endfunction()

# gex_room_of(<variable> <sources>...): the room that links everything the sources include, which is
# the last in the order of GEX_ROOMS; empty when they include none. Headers beside the sources that
# they include are read too.
function(gex_room_of variable)
  set(found "")
  set(unread ${ARGN})
  list(TRANSFORM unread PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  set(read "")
  while(unread)
    list(POP_FRONT unread file)
    list(APPEND read ${file})
    get_filename_component(directory ${file} DIRECTORY)
    file(STRINGS ${file} includes REGEX "^#include \"")
    foreach(line IN LISTS includes)
      if(line MATCHES "^#include \"([a-z]+)/" AND CMAKE_MATCH_1 IN_LIST GEX_ROOMS)
        list(APPEND found ${CMAKE_MATCH_1})
      elseif(line MATCHES "^#include \"([^/\"]+)\"" AND EXISTS ${directory}/${CMAKE_MATCH_1}
          AND NOT ${directory}/${CMAKE_MATCH_1} IN_LIST read)
        list(APPEND unread ${directory}/${CMAKE_MATCH_1})
      endif()
    endforeach()
  endwhile()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${read})
  set(last "")
  foreach(room IN LISTS GEX_ROOMS)
    if(room IN_LIST found)
      set(last ${room})
    endif()
  endforeach()
  set(${variable} "${last}" PARENT_SCOPE)
endfunction()

# gex_link_rooms(<target> <room>): links the room and all before it, from inside the library. A
# program linked so must not link libgex as well: it would hold two copies of its state.
function(gex_link_rooms target room)
  target_link_libraries(${target} PRIVATE gex_room_${room})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endfunction()

# gex_program(<name> <sources>...): a program of ours. It is linked with the rooms that its sources
# include; one that includes none of them is a client and links libgex.
function(gex_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE gex_flags)
  gex_program_headers(${name})
  gex_room_of(room ${ARGN})
  if(room)
    gex_link_rooms(${name} ${room})
  else()
    target_link_libraries(${name} PRIVATE gex)
  endif()
  # From the program's folder to that of the library and its plug-ins.
  target_compile_definitions(${name} PRIVATE GEX_LIBRARY_FOLDER="../${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endfunction()

# gex_add_programs(<folder>): one installed program per subfolder of <folder>, of all its sources;
# a subfolder with a CMakeLists.txt declares itself. Without GEX_BUILD_PROGRAMS only what starts jobs.
function(gex_add_programs folder)
  file(GLOB directories CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*)
  foreach(directory IN LISTS directories)
    get_filename_component(name ${directory} NAME)
    file(GLOB sources CONFIGURE_DEPENDS ${directory}/*.cc)
    if(NOT GEX_BUILD_PROGRAMS AND NOT name MATCHES "^(gexrun|gasnetrun)$")
      continue()
    endif()
    if(EXISTS ${directory}/CMakeLists.txt)
      add_subdirectory(${directory})
    elseif(sources)
      gex_program(${name} ${sources})
    endif()
    if(TARGET ${name})
      gex_install(${CMAKE_INSTALL_BINDIR} ${name})
    endif()
  endforeach()
endfunction()

# gex_client(<name> MODE SEQ|PARSYNC|PAR [STATIC] SOURCES <sources>...): a client of the public
# interface, compiled for one threading mode.
function(gex_client name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC" "MODE" "SOURCES")
  if(NOT arg_MODE MATCHES "^(SEQ|PARSYNC|PAR)$" OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gex_client(${name}): MODE is SEQ, PARSYNC or PAR; "
      "not understood: '${arg_MODE}' ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_compile_definitions(${name} PRIVATE GASNET_${arg_MODE})
  target_link_libraries(${name} PRIVATE gex_flags $<IF:$<BOOL:${arg_STATIC}>,gex_static,gex>)
endfunction()

# gex_upcxx_client(<name> <sources>...): a client of UPC++ in C++20, with its checks in debug builds only.
function(gex_upcxx_client name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_STANDARD 20)
  target_compile_definitions(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:UPCXX_CODEMODE=1>)
  target_link_libraries(${name} PRIVATE gex_flags gex_upcxx)
  # As for the library.
  if(GEX_SANITIZE MATCHES "undefined")
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined)
  else()
    gex_program_headers(${name})
  endif()
endfunction()
