// The rows over networks that the system or a library has: each against what is below it.

#include "catalogue.h"

namespace gexperf {

namespace {

/// A way that rows go.
struct Way {
  Group group;
  std::string_view conduit;
  std::string_view environment = "";
  std::string_view mpi = "";
};
constexpr Way ofi{Group::ofi, "ofi"};
constexpr Way udp{Group::udp, "udp"};
constexpr Way udp_header{Group::udp, "udp", "GEX_UDP_AUTHENTICATE=header"};
constexpr Way udp_1472{Group::udp, "udp", "GEX_UDP_MTU=1500 GEX_UDP_GSO=0 GEX_UDP_GRO=0"};
constexpr Way udp_loss{Group::udp, "udp", "GEX_UDP_FAULTS=loss=0.05,seed=1"};
constexpr Way ucx_tcp{Group::ucx, "ucx", "GEX_UCX_TRANSPORTS=tcp,self"};
constexpr Way ucx_shm{Group::ucx, "ucx", "GEX_UCX_TRANSPORTS=posix,cma,self"};
constexpr Way openmpi{Group::mpi, "mpi", "GEX_MPI=openmpi", "openmpi"};
constexpr Way mpich{Group::mpi, "mpi", "GEX_MPI=mpich", "mpich"};

/// A row that is measured over several networks.
struct Figure {
  std::string_view size;
  std::string_view measurement;
  std::size_t bytes;  ///< that the limit moves
};
constexpr Figure put_8{"8", "net.put.8", 8};
constexpr Figure get_8{"8", "net.get.8", 8};
constexpr Figure short_rtt{"0", "net.am.short.rtt", 8};
constexpr Figure am_8_flood{"8", "net.am.8.flood", 8};
constexpr Figure am_16384_flood{"16384", "net.am.16384.flood", 16384};
constexpr Figure put_65536_flood{"65536", "net.put.65536.flood", 65536};
constexpr Figure put_1048576_flood{"1048576", "net.put.1048576.flood", 1048576};
constexpr Figure to_one{"65536", "net.put.65536.to_one", 65536};

/// Messages of MPI's take longer from some size on, Open MPI's of 16 bytes a fifth longer than
/// those of 8: the limit has as many as libgex's shortest message.
constexpr std::size_t shortest_message = 16;
constexpr Figure put_8_by_messages{put_8.size, put_8.measurement, shortest_message};
constexpr Figure rtt_by_messages{short_rtt.size, short_rtt.measurement, shortest_message};

constexpr double no_budget = 0;
/// At least 0.95 of the bandwidth.
constexpr double bandwidth = 1 / 0.95;
// 0.7 of the bandwidth of the bare datagrams, and of two senders where there are 16.
constexpr double datagrams = 1 / 0.7;
// With losses 0.6 of the bandwidth without.
constexpr double losses = 1 / 0.6;
/// A message there and back takes MPI's own time and what libgex does with it.
constexpr double mpi_round_trip = 1.3;

/// A row whose limit is `bare`, or with a budget of nanoseconds.
Row row(std::string_view name, const Way& way, const Figure& figure, Bare bare, double budget) {
  return {.name = name,
          .group = way.group,
          .size = figure.size,
          .measurement = figure.measurement,
          .conduit = way.conduit,
          .held = budget == no_budget  ? Budget::none
                  : bare == Bare::none ? Budget::value
                                       : Budget::ratio,
          .budget = budget,
          .bare = bare,
          .bare_bytes = figure.bytes,
          .mpi = way.mpi,
          .environment = way.environment};
}

/// One whose limit is the figure of another job.
Row row(std::string_view name, const Way& way, const Figure& figure, Against against,
        double budget) {
  Row made = row(name, way, figure, Bare::none, budget);
  made.held = Budget::ratio;
  made.against = against;
  return made;
}

Row sixteen_to_one() {
  Row made = row("udp.put.65536.to_one.16", udp, to_one, Against::two_senders, datagrams);
  made.ranks = 17;
  made.cores_of_their_own = true;
  return made;
}

}  // namespace

std::vector<Row> network_rows() {
  using enum Bare;
  return {
      row("ofi.put.8", ofi, put_8, ping_pong, 1.15),
      row("ofi.get.8", ofi, get_8, ping_pong, 1.15),
      row("ofi.am.short.rtt", ofi, short_rtt, ping_pong, 1.15),
      row("ofi.am.16384.flood", ofi, am_16384_flood, flood, bandwidth),
      row("ofi.put.65536.flood", ofi, put_65536_flood, flood, bandwidth),
      row("ofi.put.1048576.flood", ofi, put_1048576_flood, flood, bandwidth),

      row("udp.put.8", udp, put_8, ping_pong, 1.15),
      row("udp.am.short.rtt", udp, short_rtt, ping_pong, 1.15),
      row("udp.am.8.flood", udp, am_8_flood, Bare::none, 333),
      row("udp.am.16384.flood", udp, am_16384_flood, Bare::none, 4900),
      row("udp.put.65536.flood", udp, put_65536_flood, flood, datagrams),
      row("udp.put.1048576.flood", udp, put_1048576_flood, flood, datagrams),
      row("udp.put.65536.flood.header", udp_header, put_65536_flood, flood, datagrams),
      row("udp.put.1048576.flood.header", udp_header, put_1048576_flood, flood, datagrams),
      row("udp.put.65536.flood.1472", udp_1472, put_65536_flood, single_flood, no_budget),
      row("udp.put.65536.flood.loss", udp_loss, put_65536_flood, Against::as_usual, losses),
      sixteen_to_one(),

      row("ucx.tcp.put.8", ucx_tcp, put_8, put_ping_pong, 1.1),
      row("ucx.tcp.get.8", ucx_tcp, get_8, ping_pong, 1.1),
      row("ucx.tcp.am.short.rtt", ucx_tcp, short_rtt, ping_pong, 1.1),
      row("ucx.tcp.put.65536.flood", ucx_tcp, put_65536_flood, flood, bandwidth),
      row("ucx.tcp.put.1048576.flood", ucx_tcp, put_1048576_flood, flood, bandwidth),
      row("ucx.shm.put.8", ucx_shm, put_8, put_ping_pong, 1.1),
      row("ucx.shm.get.8", ucx_shm, get_8, ping_pong, 1.1),
      row("ucx.shm.am.short.rtt", ucx_shm, short_rtt, ping_pong, 1.1),
      row("ucx.shm.put.65536.flood", ucx_shm, put_65536_flood, flood, bandwidth),
      row("ucx.shm.put.1048576.flood", ucx_shm, put_1048576_flood, flood, bandwidth),

      row("mpi.put.8.openmpi", openmpi, put_8_by_messages, ping_pong, mpi_round_trip),
      row("mpi.am.short.rtt.openmpi", openmpi, rtt_by_messages, ping_pong, mpi_round_trip),
      row("mpi.am.8.flood.openmpi", openmpi, am_8_flood, flood, no_budget),
      row("mpi.am.16384.flood.openmpi", openmpi, am_16384_flood, flood, no_budget),
      row("mpi.put.65536.flood.openmpi", openmpi, put_65536_flood, flood, no_budget),
      row("mpi.put.8.mpich", mpich, put_8_by_messages, ping_pong, mpi_round_trip),
      row("mpi.am.short.rtt.mpich", mpich, rtt_by_messages, ping_pong, mpi_round_trip),
      row("mpi.am.8.flood.mpich", mpich, am_8_flood, flood, no_budget),
      row("mpi.am.16384.flood.mpich", mpich, am_16384_flood, flood, no_budget),
      row("mpi.put.65536.flood.mpich", mpich, put_65536_flood, flood, no_budget),
  };
}

}  // namespace gexperf
