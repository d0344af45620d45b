#pragma once
// A pseudo-terminal for the output of a rank.
//
// Programs write whole lines at once to a terminal, and blocks of kilobytes to a pipe. So a rank
// whose output a user watches gets a terminal, and what it has printed is seen also if it is
// killed.

#include <optional>

#include "base/os_file.h"
#include "launch/terminal.h"

namespace gex::launch {

struct PseudoTerminal {
  os::FileDescriptor reader;  ///< gives what was written; EIO once all writers are closed
  os::FileDescriptor writer;  ///< the terminal that the program sees
};

/// A terminal of the size of those, which passes all bytes on unchanged and is no process's
/// controlling terminal. Empty, with errno, if the system gives none (no /dev/pts, or all are in
/// use).
std::optional<PseudoTerminal> open_pseudo_terminal(const OutputTerminals& size) noexcept;

}  // namespace gex::launch
