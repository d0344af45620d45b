#pragma once
// The operations of a rank that is not traced, in sums (base/trace_sums.h). Its calls are recorded
// as a traced rank's, and the records of a thread are added up when some thousand have come.

#include <string>

#include "base/trace_file.h"

namespace gex::trace {

/// The sink of a new thread's records, kept for the life of the process. Any thread.
RecordSink& make_thread_sums();

/// Adds the sums of all threads' records that sinks have got to those of the file, which other
/// ranks add to as well. Async-signal-safe. Returns 0 or errno.
int add_sums(const char* path, std::uint32_t job_size) noexcept;

}  // namespace gex::trace
