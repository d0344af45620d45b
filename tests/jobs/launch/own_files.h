#pragma once
// Folders for temporary files and shared memory that are the test's own, so that what a job leaves
// there is seen, and nothing is that other programs of the machine put there meanwhile.
//
// A test program has them by being linked with own_files.cc: before its first test it enters mount
// and IPC namespaces of its own, in which /dev/shm, /tmp and /var/tmp are empty but for the
// project's trees, where those lie in them. Where a machine does not allow that, the tests run as
// if this file were not there, and OwnFiles.WhatAJobLeavesIsReported is skipped with the reason.

#include <string>
#include <vector>

namespace launch_test {

/// Files in the test's own folders and System V objects, each by its path or description; none if
/// it has no folders of its own. Outcome::left_behind has them too.
std::vector<std::string> files_left_behind();

/// How `files_left_behind` looks for them; null without own_files.cc.
extern std::vector<std::string> (*look_for_files)();

}  // namespace launch_test
