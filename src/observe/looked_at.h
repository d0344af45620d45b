#pragma once
// A rank shows its polls while its guardian looks for some without progress (job/job_page.h).
//
// A client's own loop of polls is invisible: an idle poll is inline and reads a few words. While
// the guardian looks, one of these words makes every poll a call, which notes how much processor
// time its thread has spent in nothing but polls. Where progress is watched, displacements are
// withdrawn until the next operation, so that one which would have been inline is seen too; it
// brings them back.

#include <cstdint>

#include "observe/restricted.h"

namespace gex {

/// A poll of the calling thread's while the guardian looks for the `look`-th time.
[[gnu::cold]] void note_poll(std::uint32_t look) noexcept;

/// A call begins, where progress is watched.
void note_call(Call call) noexcept;

}  // namespace gex
