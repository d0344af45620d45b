// An MPI's own messages between two processes, without libgex: the limits of the rows over it. It
// is built once with each MPI, and started by that one's launcher on two ranks.
//
//   gexperf-mpi-bare-NAME ping_pong BYTES COUNT
//   gexperf-mpi-bare-NAME flood BYTES COUNT
//
// Rank 0 prints the microseconds that a message took one way. A flood has 64 messages under way,
// and an answer to as many.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int tag = 0;
constexpr std::size_t window = 64;

void ping_pong(int rank, std::vector<char>& message, std::uint64_t count) {
  const int bytes = static_cast<int>(message.size());
  const int peer = 1 - rank;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (rank == 0) MPI_Send(message.data(), bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
    MPI_Recv(message.data(), bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(message.data(), bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
  }
}

/// All messages have one place at each end.
void flood(int rank, std::vector<char>& message, std::uint64_t count) {
  const int bytes = static_cast<int>(message.size());
  const int peer = 1 - rank;
  std::array<MPI_Request, window> requests;
  for (std::uint64_t left = count; left != 0;) {
    const auto now = static_cast<int>(std::min<std::uint64_t>(window, left));
    for (int i = 0; i < now; ++i) {
      if (rank == 0)
        MPI_Isend(message.data(), bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[i]);
      else
        MPI_Irecv(message.data(), bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(now, requests.data(), MPI_STATUSES_IGNORE);
    if (rank == 0)
      MPI_Recv(nullptr, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Send(nullptr, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
    left -= static_cast<std::uint64_t>(now);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string what = argc == 4 ? argv[1] : "";
  const std::size_t bytes = argc == 4 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const std::uint64_t count = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if ((what != "ping_pong" && what != "flood") || bytes == 0 || count == 0 || size != 2) {
    if (rank == 0)
      std::fputs("Usage: mpirun -n 2 gexperf-mpi-bare-NAME ping_pong|flood BYTES COUNT\n", stderr);
    MPI_Finalize();
    return 2;
  }
  const auto measured = what == "ping_pong" ? ping_pong : flood;
  std::vector<char> message(bytes);
  // Connections, and first pages.
  measured(rank, message, std::max<std::uint64_t>(1, count / 10));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  measured(rank, message, count);
  const double seconds = MPI_Wtime() - begun;
  const double messages = static_cast<double>(count) * (what == "ping_pong" ? 2 : 1);
  if (rank == 0) std::printf("%.6f\n", seconds * 1e6 / messages);
  MPI_Finalize();
  return 0;
}
