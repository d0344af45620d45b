#pragma once
// How programs reach other hosts unless they are told: what `--rsh` is by default.

namespace gex::cmd {

inline constexpr const char* default_rsh = "ssh -x -o BatchMode=yes -o ControlMaster=no";

}  // namespace gex::cmd
