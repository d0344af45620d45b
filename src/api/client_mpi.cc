#include "job/mpi.h"

#include <dlfcn.h>

#include "base/os_process.h"
#include "base/os_signal_frame.h"

namespace gex::job {

namespace {

/// Functions that have the same types in every implementation of MPI.
struct Mpi {
  int (*initialized)(int* flag);
  int (*finalized)(int* flag);
  int (*is_thread_main)(int* flag);
  int (*finalize)();
  bool found;
  bool is_inherited;  ///< this process is a fork of one that has initialized it
  bool is_clients;    ///< who has initialized it before it joined the job
  bool is_ours;       ///< a network has initialized it
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

/// Look them up now: at the end of the process the loader's lock may be held.
void find() noexcept {
  mpi.found = !os::is_linked_static() && find("MPI_Initialized", mpi.initialized) &&
              find("MPI_Finalized", mpi.finalized) &&
              find("MPI_Is_thread_main", mpi.is_thread_main) && find("MPI_Finalize", mpi.finalize);
}

}  // namespace

void find_mpi(bool forked) noexcept {
  find();
  mpi.is_clients = mpi_is_open();
  mpi.is_inherited = forked && mpi.is_clients;
  if (mpi.is_inherited) mpi.found = false;
}

void find_mpi_of_network() noexcept {
  if (mpi.is_inherited) return;
  find();
  mpi.is_ours = !mpi.is_clients && mpi_is_open();
}

bool mpi_is_to_be_finalized() noexcept {
  return mpi.is_ours && mpi_can_be_finalized();
}

bool mpi_is_open() noexcept {
  return mpi.found && ask(mpi.initialized) && !ask(mpi.finalized);
}

bool mpi_can_be_finalized() noexcept {
  return mpi_is_open() && !os::inside_signal_handler() && ask(mpi.is_thread_main);
}

void finalize_mpi() noexcept {
  mpi.finalize();
}

}  // namespace gex::job
