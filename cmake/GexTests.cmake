# How a test is registered. Every test has a time limit, so that a hang is a failure with a name.

# Sanitizers slow a test down; the limits stretch with them.
if(GEX_SANITIZE MATCHES "thread")
  set(gex_time_scale 6)
elseif(GEX_SANITIZE)
  set(gex_time_scale 4)
else()
  set(gex_time_scale 1)
endif()

# The parts of `make check-all` beside `make check`; the Makefile has a target for each.
list(TRANSFORM GEX_DECLARED_CONDUITS PREPEND product- OUTPUT_VARIABLE products)
set(GEX_TEST_PARTS cover product-smp ${products} product-plugin jobs hosts tree mutation)

set(GEX_TEST_BINARY_DIR ${PROJECT_BINARY_DIR}/tests/bin)

# The programs whose tests bear the label `core`: unit tests, and conformance in PAR, whose ranks have
# several threads inside the library, once on two ranks over each transport. Every change passes them
# under both sanitizers (.ci/run); under ThreadSanitizer only those that have threads.
add_custom_target(core_tests)
set(gex_has_threads "#include <(thread|barrier|pthread.h)>")

# What tests precompile beside the standard headers, for each set of options. OPTIMISED: the build's own.
# UNOPTIMISED: of tests that take longer to optimise than to run; -Og under ThreadSanitizer, where they
# share the headers of MODULE. MODULE: of the conformance suite, whose checks of megabytes are slow without
# any optimisation, and of UPC++'s tests, which are templates. -Og takes three quarters of the time
# of -O1 to compile.
set(gex_test_headers <gtest/gtest.h> <random>)
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  if(GEX_SANITIZE MATCHES "address")
    set(gex_test_options_UNOPTIMISED -O0)
    set(gex_test_options_MODULE -O0)
  elseif(GEX_SANITIZE)
    set(gex_test_options_UNOPTIMISED -Og)
    set(gex_test_options_MODULE -Og)
  else()
    # GoogleTest names the line that fails.
    set(gex_test_options_UNOPTIMISED -O0 -g0)
    set(gex_test_options_MODULE -Og)
  endif()
endif()
# Undefined behaviour is looked for in the rooms, and in the conformance suite, which has the inline part
# of the interface in it; in unit tests it is a fourth of compiling them, and in the suite the check of
# every access is as much.
if(GEX_SANITIZE MATCHES "undefined")
  foreach(kind OPTIMISED UNOPTIMISED)
    list(APPEND gex_test_options_${kind} -fno-sanitize=undefined)
  endforeach()
  list(APPEND gex_test_options_MODULE -fno-sanitize=alignment)
endif()
foreach(kind OPTIMISED UNOPTIMISED MODULE)
  add_library(gex_test_headers_${kind} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
  target_link_libraries(gex_test_headers_${kind} PRIVATE gex_flags GTest::gtest)
  gex_precompile(gex_test_headers_${kind} ${gex_test_headers})
  target_compile_options(gex_test_headers_${kind} PRIVATE ${gex_test_options_${kind}})
endforeach()
set_target_properties(gex_test_headers_MODULE PROPERTIES POSITION_INDEPENDENT_CODE ON)

# gex_test_headers(<target> OPTIMISED|UNOPTIMISED|MODULE): a test's sources find GoogleTest and the
# standard headers precompiled. OPTIMISED: with the build's own options. MODULE: with those of the conformance
# suite, for objects that modules have, too.
function(gex_test_headers target kind)
  target_compile_options(${target} PRIVATE ${gex_without_warnings_of_precompiled}
    ${gex_test_options_${kind}})
  set(headers gex_test_headers_${kind})
  if(kind STREQUAL "MODULE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  elseif(GEX_SANITIZE STREQUAL "thread")
    # GCC takes headers of another level of optimisation, if they are position-independent alike.
    target_compile_options(${target} PRIVATE -fPIC)
    set(headers gex_test_headers_MODULE)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# gex_limit(<test> <seconds>)
function(gex_limit test seconds)
  math(EXPR limit "${seconds} * ${gex_time_scale}")
  set_tests_properties(${test} PROPERTIES TIMEOUT ${limit})
endfunction()

# gex_add_test(NAME <name> COMMAND <command>... [PART <part>] [TIMEOUT <seconds>] [PROCESSORS <n>]
#              [LABELS <label>...] [ENV <name=value>...])
# Every test is registered here. One without PART belongs to `make check`; the others run in that part
# of `make check-all` only, `make check-<part>`, and bear the label part-<part>. docs/testing.md has
# what each part is for.
function(gex_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;PART;TIMEOUT;PROCESSORS" "COMMAND;LABELS;ENV")
  if(NOT arg_NAME OR NOT arg_COMMAND OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gex_add_test(${arg_NAME}): NAME and COMMAND are needed; "
      "not understood: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  set(configurations "")
  if(arg_PART)
    if(NOT arg_PART IN_LIST GEX_TEST_PARTS)
      message(FATAL_ERROR "gex_add_test(${arg_NAME}): there is no part ${arg_PART}")
    endif()
    set(configurations CONFIGURATIONS ${arg_PART})
    list(APPEND arg_LABELS part-${arg_PART})
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND} ${configurations})
  set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}")
  # Quoted: a value may have semicolons of its own.
  if(arg_ENV)
    set_tests_properties(${arg_NAME} PROPERTIES ENVIRONMENT "${arg_ENV}")
  endif()
  # An mpirun of Open MPI removes the folder of its host and user while another one makes its own in it.
  set_tests_properties(${arg_NAME} PROPERTIES ENVIRONMENT_MODIFICATION
    "OMPI_MCA_orte_tmpdir_base=set:${PROJECT_BINARY_DIR}/tests/open-mpi/${arg_NAME}")
  if(arg_PROCESSORS)
    set_tests_properties(${arg_NAME} PROPERTIES PROCESSORS ${arg_PROCESSORS})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  gex_limit(${arg_NAME} ${arg_TIMEOUT})
endfunction()

# gex_unit_program(<name> <sources>... [OPTIMISED]): a GoogleTest program of one process, linked with
# the rooms that its sources include and no others. OPTIMISED: it is about what the optimiser may do,
# or computes for long.
function(gex_unit_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMISED" "" "")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  if(arg_OPTIMISED)
    gex_test_headers(${name} OPTIMISED)
  else()
    gex_test_headers(${name} UNOPTIMISED)
  endif()
  target_link_libraries(${name} PRIVATE gex_flags GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/src)
  gex_room_of(room ${arg_UNPARSED_ARGUMENTS})
  if(room)
    gex_link_rooms(${name} ${room})
  endif()
endfunction()

# gex_has_threads_in(<variable> <sources>...): sets it to ON if one of the sources starts threads.
function(gex_has_threads_in variable)
  set(${variable} OFF PARENT_SCOPE)
  foreach(source IN LISTS ARGN)
    get_filename_component(source ${source} ABSOLUTE)
    file(STRINGS ${source} found REGEX "${gex_has_threads}")
    if(found)
      set(${variable} ON PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# gex_is_core(<variable> <no memory> <sources>...): sets it to ON if tests of these sources are of the core.
# Without memory there is nothing for AddressSanitizer, and without threads for ThreadSanitizer.
function(gex_is_core variable no_memory)
  set(is_core ON)
  if(no_memory AND GEX_SANITIZE MATCHES "address")
    set(is_core OFF)
  elseif(GEX_SANITIZE STREQUAL "thread")
    gex_has_threads_in(is_core ${ARGN})
  endif()
  set(${variable} ${is_core} PARENT_SCOPE)
endfunction()

# gex_unit_test(<name> <sources>... [OPTIMISED] [NO_MEMORY] [TIMEOUT <seconds>]): a unit program and
# its test. NO_MEMORY: what it tests manages none.
function(gex_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMISED;NO_MEMORY" "TIMEOUT" "")
  set(sources ${arg_UNPARSED_ARGUMENTS})
  set(optimised "")
  if(arg_OPTIMISED)
    set(optimised OPTIMISED)
  endif()
  gex_unit_program(${name} ${sources} ${optimised})
  gex_is_core(is_core "${arg_NO_MEMORY}" ${sources})
  if(is_core)
    gex_add_test(NAME unit.${name} COMMAND ${name} TIMEOUT "${arg_TIMEOUT}" LABELS unit core)
    add_dependencies(core_tests ${name})
  else()
    gex_add_test(NAME unit.${name} COMMAND ${name} TIMEOUT "${arg_TIMEOUT}" LABELS unit)
  endif()
endfunction()

# gex_unit_tests(<program> <prefix> <sources>... [OPTIMISED] [NO_MEMORY]): a unit program of several
# sources, which are compiled together where the build allows it, since most of what each compiles are
# the same headers. Each source has a test, unit.<prefix><source>, of the suites that it defines. No two
# sources of a program may use one name, neither for suites nor in unnamed namespaces.
function(gex_unit_tests program prefix)
  cmake_parse_arguments(PARSE_ARGV 2 arg "OPTIMISED;NO_MEMORY" "" "")
  set(optimised "")
  if(arg_OPTIMISED)
    set(optimised OPTIMISED)
  endif()
  gex_unit_program(${program} ${arg_UNPARSED_ARGUMENTS} ${optimised})
  gex_join_sources(${program})
  set(all "")
  set(program_is_core OFF)
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME_WE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} suites REGEX "^(TEST|TEST_F|TEST_P|TYPED_TEST)[(]")
    list(TRANSFORM suites REPLACE "^[A-Z_]+[(]([A-Za-z0-9_]+),.*$" "\\1")
    list(TRANSFORM suites REPLACE "^(.+)$" "\\1.*:\\1/*:*/\\1.*")
    list(REMOVE_DUPLICATES suites)
    list(APPEND all ${suites})
    list(JOIN suites ":" filter)
    gex_is_core(is_core "${arg_NO_MEMORY}" ${source})
    set(labels unit)
    if(is_core)
      list(APPEND labels core)
      set(program_is_core ON)
    endif()
    gex_add_test(NAME unit.${prefix}${name} COMMAND ${program} --gtest_filter=${filter}
      LABELS ${labels})
  endforeach()
  if(program_is_core)
    add_dependencies(core_tests ${program})
  endif()
  # A suite that was not found in its source would run in no test.
  list(JOIN all ":" filter)
  gex_add_test(NAME unit.${program}.all COMMAND ${program} --gtest_list_tests --gtest_filter=-${filter}
    LABELS unit)
  set_tests_properties(unit.${program}.all PROPERTIES FAIL_REGULAR_EXPRESSION "\n[A-Za-z0-9_/]+[.]")
endfunction()

# gex_job_test(NAME <name> COMMAND <target or program> <args>... RANKS <n> [CONDUIT smp|emu]
#              [ENV <name=value>...] [LAUNCHER <program>] [LAUNCH <its options>...] [CHECKED]
#              [PART <part>]
#              [FAILS <regular expression> [ALSO <regular expression>]]
#              [PROCESSORS <n>] [TIMEOUT <seconds>] [LABELS <labels>...])
# A program run by gexrun, or another launcher, on n ranks, which take as many processors unless
# PROCESSORS is given, or FAILS, with which they mostly wait. CHECKED runs it on the checking library.
# PART as in gex_add_test. With FAILS the job must be refused, as tests/expect_failure.sh has it: a
# status other than 0, one line on standard error, which the expression matches, and nothing left
# behind. ALSO matches whatever else it may print.
function(gex_job_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "CHECKED"
    "NAME;RANKS;CONDUIT;PART;PROCESSORS;TIMEOUT;FAILS;ALSO;LAUNCHER" "COMMAND;ENV;LAUNCH;LABELS")
  if(NOT arg_NAME OR NOT arg_COMMAND OR NOT arg_RANKS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gex_job_test(${arg_NAME}): NAME, COMMAND and RANKS are needed; "
      "not understood: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  # A job that is refused mostly waits for its processes to start and to end.
  if(NOT arg_PROCESSORS AND arg_FAILS)
    set(arg_PROCESSORS 1)
  elseif(NOT arg_PROCESSORS)
    set(arg_PROCESSORS ${arg_RANKS})
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  if(NOT arg_LAUNCHER)
    set(arg_LAUNCHER $<TARGET_FILE:gexrun>)
  endif()
  set(command ${arg_LAUNCHER} -n ${arg_RANKS} ${arg_LAUNCH} ${program} ${arg_COMMAND})
  if(arg_FAILS)
    set(also "")
    if(arg_ALSO)
      set(also --also ${arg_ALSO})
    endif()
    set(command ${PROJECT_SOURCE_DIR}/tests/expect_failure.sh ${also} ${arg_FAILS} ${command})
  endif()
  # Quoted: a value may have semicolons of its own.
  set(environment "${arg_ENV}")
  if(arg_CONDUIT)
    list(APPEND environment GEX_CONDUIT=${arg_CONDUIT})
  endif()
  if(arg_CHECKED AND GEX_DEBUG_LIBRARY)
    list(APPEND environment LD_LIBRARY_PATH=$<TARGET_FILE_DIR:gex_debug>)
  endif()
  gex_add_test(NAME job.${arg_NAME} COMMAND ${command} PART "${arg_PART}" ENV ${environment}
    LABELS job ${arg_LABELS} PROCESSORS ${arg_PROCESSORS} TIMEOUT "${arg_TIMEOUT}")
endfunction()
