#pragma once
// How programs reach other hosts by default: the value of `--rsh` where none is given.

namespace gex::cmd {

/// Without sessions shared with others, and with an end when the other host is gone for good: what
/// has started a job's part there may otherwise outlive the job.
inline constexpr const char* default_rsh =
    "ssh -x -o BatchMode=yes -o ControlMaster=no -o ServerAliveInterval=5";

}  // namespace gex::cmd
