#pragma once
// `program N arguments...`: a program with the label udp starts a job of N ranks itself where no
// launcher has started it, as it does with GASNet. N is taken out of its arguments.
//
// The ranks are on this machine, unless the variables that amudprun reads name others; then this
// process becomes amudprun.

#include <cstdint>

namespace gex {

/// The client has these of main's arguments; null pointers: nothing.
struct CommandLine {
  int* count = nullptr;
  char*** arguments = nullptr;
};

/// The number of ranks to start, from the command line; where the client passes none, from the
/// process's own: 0 if the program has another label, or no arguments. Ends the process in one line
/// if the first argument is not a number of ranks.
std::uint32_t take_ranks(const CommandLine& line);

}  // namespace gex
