#pragma once
// What MPICH and its descendants need of a launcher to find their peers, offered by the process
// itself: PMI-1, over a pair of sockets.
//
// gexrun is no launcher of MPI's. But the ranks have Host::exchange, of which a process manager's
// put, fence and get are made: while `MPI_Init_thread` runs, a thread of this process answers it.
// PMI's variables are set during that time only, so that programs that the rank executes do not
// take themselves for ranks. At the end `MPI_Finalize` asks again; by then all ranks are there, and
// a fence is answered at once.
//
// Thread rules: one thread, and none of the rank's is in Host::exchange while a server runs.

#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace gex::net::mpi {

class PmiServer {
 public:
  explicit PmiServer(const Host& host);
  PmiServer(const PmiServer&) = delete;
  PmiServer& operator=(const PmiServer&) = delete;
  ~PmiServer();

  /// The sockets exist.
  bool is_ready() const noexcept { return own_ >= 0; }

  /// Sets PMI's variables and answers; `MPI_Init_thread` may be called. Collective.
  void begin();
  /// `MPI_Init_thread` has returned.
  void end_of_init();
  /// `MPI_Finalize` has begun, on all ranks.
  void begin_finalize();

 private:
  void serve();
  /// The answer to a line; empty: there is none.
  std::string answer(std::string_view line);
  void fence();
  std::string process_mapping() const;

  const Host& host_;
  const std::uint32_t rank_;
  const std::uint32_t size_;
  const std::string mapping_;
  int own_ = -1;
  int library_ = -1;  ///< MPI's end; MPI closes it
  bool finalizing_ = false;
  std::map<std::string, std::string, std::less<>> values_;
  std::string unpublished_;  ///< "key=value\n" of what was put since the last fence
  std::thread thread_;
  /// Of the thread that serves the finalization, which no other thread joins: set at its end.
  std::shared_ptr<std::atomic<bool>> ended_;
};

}  // namespace gex::net::mpi
