#pragma once
// Standard output of a rank, line by line.
//
// A stream to a pipe is written in blocks, so that what a rank has printed stays in its memory, and
// is lost if the rank is killed. A launcher's pipe is to behave like the terminal that its users
// expect: each line is written once it is complete.

namespace gex::job {

/// Makes `stdout` write whole lines if this process is a rank whose standard output goes through
/// its launcher, or through a file that it shares with other ranks. Runs at load, before the
/// program may choose otherwise with setvbuf; has no effect from the second call on.
void print_by_lines() noexcept;

}  // namespace gex::job
