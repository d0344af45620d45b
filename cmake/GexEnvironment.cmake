# The environment table (src/base/env.h) consists of the files environment.def: of rooms of src/, of the
# folders in them, such as networks, and of programs of cmd/. Each has the rows of the variables that
# its folder reads, and nothing outside the folder names it. tools/generate-env-docs reads the same
# files in the same order.

set(environment_table "// Written when the build is configured: cmake/GexEnvironment.cmake.\n")
foreach(folders src/* src/*/* cmd/*)
  file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folders}/environment.def)
  foreach(part IN LISTS parts)
    string(APPEND environment_table "#include \"${part}\"\n")
  endforeach()
endforeach()
gex_write(${GEX_GENERATED}/environment_table.def "${environment_table}")
