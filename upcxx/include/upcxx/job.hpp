/// @file
/// The job: its beginning and end, ranks, barrier. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_JOB_HPP_
#define UPCXX_JOB_HPP_

#include <upcxx/persona.hpp>

namespace upcxx {

/// Joins the job. Collective. Nested calls are counted, and the outermost finalize() leaves. The
/// calling thread holds the master persona afterwards.
UPCXXI_EXPORT void init();
/// Leaves it, after a barrier with user progress. Collective, by the thread with the master
/// persona.
UPCXXI_EXPORT void finalize();
UPCXXI_EXPORT bool initialized();

namespace detail {

/// The facts of the job that inline code reads.
struct Job {
  intrank_t rank_me;
  intrank_t rank_n;
  /// A remote call does more than to send: it makes room, or is noted for hang reports.
  bool has_long_calls;
  /// By rank: what is added to an address of its shared heap for the address here; no_displacement
  /// where this process does not share its memory.
  const std::intptr_t* displacements;
};
extern UPCXXI_EXPORT Job job;

inline constexpr std::intptr_t no_displacement = INTPTR_MIN;

}  // namespace detail

/// The rank of the caller; `rank_n` is the number of all ranks.
inline intrank_t rank_me() {
  UPCXXI_CHECK(initialized(), "upcxx::rank_me: call upcxx::init() first");
  return detail::job.rank_me;
}
inline intrank_t rank_n() {
  UPCXXI_CHECK(initialized(), "upcxx::rank_n: call upcxx::init() first");
  return detail::job.rank_n;
}

/// Waits until all ranks have called it, with user progress. Not in callbacks.
UPCXXI_EXPORT void barrier();

/// A variable of the environment that the job was started in, or nullptr.
UPCXXI_EXPORT char* getenv_console(const char* name);

}  // namespace upcxx

#endif
