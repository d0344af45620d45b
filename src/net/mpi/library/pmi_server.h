#pragma once
// The services that MPICH and its descendants need of a launcher to find their peers, offered by
// the process itself: PMI-1, over a pair of sockets.
//
// gexrun is no launcher of MPI's. But the ranks have Host::exchange, of which a process manager's
// put, fence and get are made: a thread of this process answers MPI. PMI's variables are set while
// `MPI_Init_thread` runs only, so that programs that the rank executes do not take themselves for
// ranks. Until the end the thread only waits: for an abort, upon which a launcher has to end the
// process, and for `MPI_Finalize`, by which all ranks are there, and a fence is
// answered at once.
//
// Thread rules: one thread, and none of the rank's is in Host::exchange from `begin` to the return
// of `end_of_init`.

#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace gex::net::mpi {

class PmiServer {
 public:
  explicit PmiServer(const Host& host);
  PmiServer(const PmiServer&) = delete;
  PmiServer& operator=(const PmiServer&) = delete;
  ~PmiServer();

  /// The sockets exist.
  bool is_ready() const noexcept { return own_ >= 0; }

  /// Sets PMI's variables and answers; `MPI_Init_thread` may be called. Returns 0, or the error
  /// number of the thread that would answer, which cannot be started.
  int begin();
  /// `MPI_Init_thread` has returned. The server is not in Host::exchange from then on.
  void end_of_init();
  /// `MPI_Finalize` has begun, on all ranks.
  void begin_finalize();

 private:
  enum class Phase { initialization, running, finalization };

  void serve();
  void change(Phase phase);
  std::string answer(std::string_view line);
  void fence();
  std::string process_mapping() const;

  const Host& host_;
  const std::uint32_t rank_;
  const std::uint32_t size_;
  const std::string mapping_;
  int own_ = -1;
  int library_ = -1;  ///< MPI's end; MPI closes it
  std::atomic<Phase> phase_{Phase::initialization};
  std::map<std::string, std::string, std::less<>> values_;
  std::string unpublished_;  ///< "key=value\n" of what was put since the last fence
  /// Set at the end of the thread that serves, which no other joins: the process may end before.
  std::shared_ptr<std::atomic<bool>> ended_;
};

}  // namespace gex::net::mpi
