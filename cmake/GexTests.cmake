# How a test is registered. Every test has a time limit, so that a hang is a failure with a name.

# Sanitizers slow a test down; the limits stretch with them.
if(GEX_SANITIZE MATCHES "thread")
  set(gex_time_scale 6)
elseif(GEX_SANITIZE)
  set(gex_time_scale 4)
else()
  set(gex_time_scale 1)
endif()

set(GEX_TEST_BINARY_DIR ${PROJECT_BINARY_DIR}/tests/bin)

# The programs whose tests bear the label `core`: unit tests, and conformance in PAR, whose ranks have
# several threads inside the library, on 2 to 4 ranks over each network. Every change passes them
# under ThreadSanitizer (.ci/run).
add_custom_target(core_tests)

# gex_limit(<test> <seconds>)
function(gex_limit test seconds)
  math(EXPR limit "${seconds} * ${gex_time_scale}")
  set_tests_properties(${test} PROPERTIES TIMEOUT ${limit})
endfunction()

# gex_unit_test(<name> <sources>... [TIMEOUT <seconds>]): a GoogleTest program of one process,
# linked with the rooms that its sources include and no others.
function(gex_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "")
  set(sources ${arg_UNPARSED_ARGUMENTS})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE gex_flags GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/src)
  gex_room_of(room ${sources})
  if(room)
    gex_link_rooms(${name} ${room})
  endif()
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS "unit;core")
  add_dependencies(core_tests ${name})
  gex_limit(unit.${name} ${arg_TIMEOUT})
endfunction()

# gex_job_test(NAME <name> COMMAND <target or program> <args>... RANKS <n> [CONDUIT smp|emu]
#              [ENV <name=value>...] [LAUNCH <gexrun options>...] [CHECKED] [EXHAUSTIVE]
#              [FAILS <regular expression> [ALSO <regular expression>]]
#              [TIMEOUT <seconds>] [LABELS <labels>...])
# A program run by gexrun on n ranks. CHECKED runs it on the checking library. An EXHAUSTIVE test
# belongs to `make check-all` only. With FAILS the job must be refused, as tests/expect_failure.sh
# says: a status other than 0, one line on standard error, which the expression matches, and nothing
# left behind. ALSO matches whatever else it may print.
function(gex_job_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "CHECKED;EXHAUSTIVE" "NAME;RANKS;CONDUIT;TIMEOUT;FAILS;ALSO"
    "COMMAND;ENV;LAUNCH;LABELS")
  if(NOT arg_NAME OR NOT arg_COMMAND OR NOT arg_RANKS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gex_job_test(${arg_NAME}): NAME, COMMAND and RANKS are needed; "
      "not understood: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  set(command $<TARGET_FILE:gexrun> -n ${arg_RANKS} ${arg_LAUNCH} ${program} ${arg_COMMAND})
  if(arg_FAILS)
    set(also "")
    if(arg_ALSO)
      set(also --also ${arg_ALSO})
    endif()
    set(command ${PROJECT_SOURCE_DIR}/tests/expect_failure.sh ${also} ${arg_FAILS} ${command})
  endif()
  set(configuration "")
  if(arg_EXHAUSTIVE)
    set(configuration CONFIGURATIONS exhaustive)
  endif()
  # Quoted: a value may have semicolons of its own.
  set(environment "${arg_ENV}")
  if(arg_CONDUIT)
    list(APPEND environment GEX_CONDUIT=${arg_CONDUIT})
  endif()
  if(arg_CHECKED AND GEX_DEBUG_LIBRARY)
    list(APPEND environment LD_LIBRARY_PATH=$<TARGET_FILE_DIR:gex_debug>)
  endif()
  set(labels job ${arg_LABELS})

  add_test(NAME job.${arg_NAME} COMMAND ${command} ${configuration})
  set_tests_properties(job.${arg_NAME} PROPERTIES
    ENVIRONMENT "${environment}" LABELS "${labels}" PROCESSORS ${arg_RANKS})
  gex_limit(job.${arg_NAME} ${arg_TIMEOUT})
endfunction()
