#pragma once
// MPI in this process: initialized by the program or by this conduit, and the two communicators of
// a job, whose ranks are the job's.
//
// Messages, which any receive takes, and the data of large transfers, which have a receive each,
// are matched apart. MPI stays initialized when the job is left, because it cannot be initialized
// again; what has been initialized here is finalized at the end of the process (`finalization`).

#include <gex/plugin/conduit.h>
#include <mpi.h>

#include <array>
#include <functional>
#include <span>
#include <string>

namespace gex::net::mpi {

class Session {
 public:
  /// Joins; collective over all ranks, also where it fails on some. On failure `error` is the
  /// reason, on all ranks, and nothing else of the session may be used.
  Session(const Host& host, std::string& error);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Collective, unless MPI has been finalized.
  ~Session();

  MPI_Comm messages() const noexcept { return communicators_[0]; }
  MPI_Comm data() const noexcept { return communicators_[1]; }

  /// The request that Open MPI returns for every message that MPI_Isend has sent already. It needs
  /// no test, and MPI_Testsome ignores it. Otherwise MPI_REQUEST_NULL.
  MPI_Request complete_request() const noexcept { return complete_request_; }

  /// The interface that MPI was limited to when it was initialized here, and why; null: it chose.
  const char* interface() const noexcept {
    return interface_.empty() ? nullptr : interface_.c_str();
  }
  const char* interface_reason() const noexcept { return interface_reason_; }

  /// Called when MPI is being finalized, by any caller: the last time that MPI may be used.
  void on_finalize(std::function<void()> action) { on_finalize_ = std::move(action); }

 private:
  static int finalizing(MPI_Comm communicator, int keyval, void* session, void* extra);

  const Host& host_;
  std::array<MPI_Comm, 2> communicators_{MPI_COMM_NULL, MPI_COMM_NULL};
  MPI_Request complete_request_ = MPI_REQUEST_NULL;
  int keyval_ = MPI_KEYVAL_INVALID;
  bool is_open_ = false;
  std::string interface_;
  const char* interface_reason_ = nullptr;
  std::function<void()> on_finalize_;
};

/// The answer of `Conduit::finalization` for MPI, which the program may have initialized.
Finalization finalization(bool by_exit);

/// Finalizes MPI. Collective over all ranks, which have left the job.
void finalize_on_all_ranks();

/// Which of some requests are complete, by one call if all are. Returns MPI's code.
int test_each(std::span<MPI_Request> requests, bool* done);

/// MPI's text for an error.
std::string error_text(int code);

}  // namespace gex::net::mpi
