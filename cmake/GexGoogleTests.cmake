# gex_google_test(NAME <name> COMMAND <target> [ONLY <filter> PART <part>] [OF <filter>]
#                 [WITHOUT <filter>] [SHARDS <n>] [TIMEOUT <seconds>] [COST <seconds>]
#                 [LABELS <label>...] [ENV <name=value>...])
# A GoogleTest program whose tests mostly wait, in <n> processes at once, which take one processor
# together (tests/google_tests.py). With ONLY, `make check` runs the tests that the filter matches,
# and <name>.rest the others, in PART. OF and WITHOUT choose which tests the two are of, if not all. The
# filters are GoogleTest's, whose patterns are separated by colons.
function(gex_google_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;COMMAND;ONLY;OF;WITHOUT;PART;SHARDS;TIMEOUT;COST"
    "LABELS;ENV")
  if(NOT arg_NAME OR NOT arg_COMMAND OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gex_google_test(${arg_NAME}): NAME and COMMAND are needed; "
      "not understood: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if((arg_ONLY AND NOT arg_PART) OR (arg_PART AND NOT arg_ONLY))
    message(FATAL_ERROR "gex_google_test(${arg_NAME}): ONLY and PART go together")
  endif()
  set(run Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tests/google_tests.py)
  if(arg_SHARDS)
    list(APPEND run --shards ${arg_SHARDS})
  endif()
  if(arg_OF)
    list(APPEND run --of=${arg_OF})
  endif()
  if(arg_WITHOUT)
    list(APPEND run --without=${arg_WITHOUT})
  endif()
  set(common PROCESSORS 1 TIMEOUT "${arg_TIMEOUT}" LABELS ${arg_LABELS} ENV ${arg_ENV})
  if(arg_ONLY)
    gex_add_test(NAME ${arg_NAME} COMMAND ${run} --only=${arg_ONLY} $<TARGET_FILE:${arg_COMMAND}>
      ${common})
    gex_add_test(NAME ${arg_NAME}.rest COMMAND ${run} --except=${arg_ONLY}
      $<TARGET_FILE:${arg_COMMAND}> PART ${arg_PART} ${common})
  else()
    gex_add_test(NAME ${arg_NAME} COMMAND ${run} $<TARGET_FILE:${arg_COMMAND}> ${common})
  endif()
  # CTest starts those that cost most first.
  if(arg_COST)
    set_tests_properties(${arg_NAME} PROPERTIES COST ${arg_COST})
  endif()
endfunction()
