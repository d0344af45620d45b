# Writes a manual page.
#
#   cmake -D help2man=... -D program=... -D about=... -D version=... -D page=... -P page.cmake

cmake_policy(VERSION 3.22)
# A program that is a client would warn that it is a job of one rank.
set(ENV{GASNET_PSHM_NODES} 1)
set(ENV{LC_ALL} C)
execute_process(
  COMMAND ${help2man} --no-info --section=1 --name=${about} --manual=libgex
    --source=libgex\ ${version} --version-string=${version}
    --include=${CMAKE_CURRENT_LIST_DIR}/sections.h2m ${program}
  OUTPUT_VARIABLE text
  COMMAND_ERROR_IS_FATAL ANY)
# The programs end their help with it; a manual page has a section of its own.
string(REPLACE ".PP\nExit status: " ".SH \"EXIT STATUS\"\n" text "${text}")
file(WRITE ${page} "${text}")
