#include "api/client_mpi.h"

#include <dlfcn.h>

#include "base/os_process.h"
#include "job/finalizer.h"

namespace gex {

namespace {

using job::Finalizer;

/// Functions that have the same types in every implementation of MPI.
struct Mpi {
  int (*initialized)(int* flag);
  int (*finalized)(int* flag);
  int (*is_thread_main)(int* flag);
  int (*finalize)();
};
constinit Mpi mpi{};

template <typename Function>
bool find(const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

bool ask(int (*question)(int*)) noexcept {
  int answer = 0;
  return question(&answer) == 0 && answer != 0;
}

bool is_open() noexcept {
  return ask(mpi.initialized) && !ask(mpi.finalized);
}

/// A client that ends by itself finalizes MPI by itself.
Finalizer::Standing standing(bool by_exit) noexcept {
  if (!is_open()) return Finalizer::Standing::closed;
  return !by_exit && ask(mpi.is_thread_main) ? Finalizer::Standing::ready
                                             : Finalizer::Standing::stays_open;
}

void finalize() noexcept {
  mpi.finalize();
}

}  // namespace

void find_client_mpi(bool forked) noexcept {
  // Looked up now: at the end of the process the loader's lock may be held.
  const bool found = !os::is_linked_static() && find("MPI_Initialized", mpi.initialized) &&
                     find("MPI_Finalized", mpi.finalized) &&
                     find("MPI_Is_thread_main", mpi.is_thread_main) &&
                     find("MPI_Finalize", mpi.finalize);
  if (!found || (forked && is_open())) return;
  job::set_finalizer({"MPI_Finalize", standing, finalize});
}

}  // namespace gex
