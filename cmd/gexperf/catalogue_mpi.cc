// The rows over mpi: each kind for each MPI.

#include "catalogue.h"

namespace gexperf {

namespace {

/// A message there and back takes MPI's own time and what libgex does with it.
constexpr double round_trip_budget = 1.3;

/// Bytes of libgex's shortest message. Messages of MPI's take longer from some size on, Open MPI's
/// of 16 bytes a fifth longer than those of 8.
constexpr std::size_t shortest = 16;

struct Mpi {
  std::string_view name;
  std::string_view environment;
};
constexpr Mpi mpis[] = {{"openmpi", "GEX_MPI=openmpi"}, {"mpich", "GEX_MPI=mpich"}};

struct Kind {
  std::string_view names[std::size(mpis)];  ///< of the row over each of them
  std::string_view size;
  std::string_view measurement;
  BareMpi bare;
  std::size_t bytes;
  double budget;  ///< 0: none
};
constexpr Kind kinds[] = {
    {{"mpi.put.8.openmpi", "mpi.put.8.mpich"},
     "8",
     "net.put.8",
     BareMpi::ping_pong,
     shortest,
     round_trip_budget},
    {{"mpi.am.short.rtt.openmpi", "mpi.am.short.rtt.mpich"},
     "0",
     "net.am.short.rtt",
     BareMpi::ping_pong,
     shortest,
     round_trip_budget},
    {{"mpi.am.8.flood.openmpi", "mpi.am.8.flood.mpich"},
     "8",
     "net.am.8.flood",
     BareMpi::flood,
     8,
     0},
    {{"mpi.am.16384.flood.openmpi", "mpi.am.16384.flood.mpich"},
     "16384",
     "net.am.16384.flood",
     BareMpi::flood,
     16384,
     0},
    {{"mpi.put.65536.flood.openmpi", "mpi.put.65536.flood.mpich"},
     "65536",
     "net.put.65536.flood",
     BareMpi::flood,
     65536,
     0},
};

}  // namespace

std::vector<Row> mpi_rows() {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < std::size(mpis); ++i) {
    for (const Kind& kind : kinds) {
      rows.push_back({.name = kind.names[i],
                      .group = Group::mpi,
                      .size = kind.size,
                      .measurement = kind.measurement,
                      .conduit = "mpi",
                      .held = kind.budget != 0 ? Budget::ratio : Budget::none,
                      .budget = kind.budget,
                      .bare_mpi = kind.bare,
                      .mpi = mpis[i].name,
                      .bare_bytes = kind.bytes,
                      .environment = mpis[i].environment});
    }
  }
  return rows;
}

}  // namespace gexperf
