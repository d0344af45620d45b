#pragma once
// Counts copies and moves of values on their way (copies.cc).

/// Collective: ends the job if there are more, or fewer, than expected.
void count_copies();
