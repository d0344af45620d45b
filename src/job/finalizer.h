#pragma once
// A library beside libgex that all ranks finalize together once the job is over, as MPI_Finalize
// does. MPI's launchers treat a process as failed that has initialized MPI and not finalized it,
// whatever its exit status.

namespace gex::job {

struct Finalizer {
  enum class Standing {
    closed,      ///< not initialized, or finalized
    stays_open,  ///< initialized, and the calling thread must not finalize it now
    ready,       ///< the calling thread may finalize it
  };

  const char* call;  ///< for messages: "MPI_Finalize"
  /// `by_exit`: the client has called exit or returned from main, and has had its chance to
  /// finalize what it has initialized; otherwise it has called gasnet_exit. Any thread, also in a
  /// signal handler.
  Standing (*standing)(bool by_exit) noexcept;
  /// Collective over all processes that have initialized the library together.
  void (*finalize)() noexcept;
};

/// Start-up only; replaces one that was set before. Without one nothing is finalized.
void set_finalizer(const Finalizer& finalizer) noexcept;

}  // namespace gex::job
