#pragma once
// Memory of other processes of this host, which the kernel copies (process_vm_readv).
//
// The kernel allows it between processes of one user, unless a security module, a container or a
// dropped capability forbids it; then all these return the error. Any thread. Copies of megabytes
// are one call; nothing here sleeps for another process.

#include <cstddef>
#include <cstdint>

namespace gex::os {

/// Copies `bytes` at `from` in the process to `to`. 0, or the error number; some bytes may have
/// been copied then. ESRCH: there is no such process any more.
int read_process_memory(int process, void* to, std::uint64_t from, std::size_t bytes) noexcept;

/// Copies `bytes` at `from` here to `to` in the process.
int write_process_memory(int process, std::uint64_t to, const void* from,
                         std::size_t bytes) noexcept;

/// Where Yama restricts such copies to ancestors (ptrace_scope 1): allows them to the descendants
/// of this process's parent, which the other ranks of the host are. No effect elsewhere.
void allow_memory_access_by_siblings() noexcept;

}  // namespace gex::os
