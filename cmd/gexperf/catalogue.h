#pragma once
// The measurements of gexperf: one row for each figure, with its budget.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gexperf {

enum class Group {
  limits,
  put,
  get,
  atomic,
  vis,
  am,
  barrier,
  coll,
  poll,
  emu,
  ofi,
  udp,
  ucx,
  mpi,
  launch,
  scale,
  threads,
  cores,
  cuda
};

/// The words of the command line, in the order of `Group`.
inline constexpr std::string_view group_names[] = {
    "limits", "put", "get", "atomic", "vis",    "am",    "barrier", "coll",  "poll", "emu",
    "ofi",    "udp", "ucx", "mpi",    "launch", "scale", "threads", "cores", "cuda"};

/// Returns true if a group is measured when no group is named. `scale` takes minutes; those behind
/// it are for machines of many cores, and for machines with a device.
constexpr bool is_usual(Group group) {
  return group < Group::scale;
}

/// The threading mode that the measuring program is compiled for.
enum class Mode { seq, par };

/// The kind of operation over emu, whose model then gives its time (emu_limit.h).
enum class OverEmu {
  nothing,
  transfer,  ///< a put or a get
  transfer_flood,
  round_trip,  ///< a message and its answer
  message_flood,
};

/// The quantity that a budget bounds.
enum class Budget {
  none,
  ratio,   ///< value / limit
  value,   ///< the value itself, in the row's unit
  excess,  ///< value - limit, in the row's unit
};

/// The measurement of the network without libgex that is the limit of a row over it (bare.h).
enum class Bare {
  none,
  ping_pong,      ///< so many bytes there and back
  put_ping_pong,  ///< likewise, written into the other's memory
  flood,          ///< one message, or one write, of a stream of them
  single_flood,   ///< one datagram of an Ethernet's packet, which the system neither cuts nor joins
};

/// Another job whose figure is the limit.
enum class Against {
  nothing,
  one_thread,   ///< of one thread a rank; the limit is `Row::threads` times what it does
  as_usual,     ///< without the row's environment
  two_senders,  ///< of three ranks
  no_kind,      ///< an idle poll, where there is no memory of devices
};

/// The kind of a row's value. A rate is measured as the time of `Row::messages` messages.
enum class Quantity { time, memory, rate };

struct Row {
  std::string_view name;
  Group group;
  std::string_view size;         ///< bytes, or another measure of how large it is
  std::string_view measurement;  ///< its name in the worker; empty: launch.h
  Quantity quantity = Quantity::time;
  Mode mode = Mode::seq;
  unsigned ranks = 2;
  std::string_view conduit = "smp";
  Budget held = Budget::none;
  double budget = 0;
  /// Budget::ratio: what the value may take besides.
  double allowance_ns = 0;
  Bare bare = Bare::none;
  std::size_t bare_bytes = 0;
  std::string_view mpi = "";  ///< of a row over mpi: which, as GEX_MPI has it
  /// The least that the value can be of its limit, with some room for chance; less is a mistake in
  /// the measurement. 0: the limit is no floor.
  double floor = 0;
  /// The least that the value can be in nanoseconds.
  double floor_ns = 0.2;
  /// The limit is the time that emu's model gives this, of so many bytes.
  OverEmu over_emu = OverEmu::nothing;
  std::size_t emu_bytes = 0;
  /// Messages in one repetition of a row that is a rate; 0: the row is no rate.
  unsigned messages = 0;
  /// Threads of each of the two ranks; 0: the measurement has none.
  unsigned threads = 0;
  Against against = Against::nothing;
  /// Variables of the row's jobs, NAME=VALUE, with blanks between them.
  std::string_view environment = "";
  /// Each rank has to have a core of its own.
  bool cores_of_their_own = false;
  /// Bytes and place of a collective's data, or of the ends of a transfer (worker/cuda.h); empty:
  /// the measurement has none.
  std::string_view bytes = "";
  std::string_view place = "";

  /// Cores without which the figure means nothing.
  unsigned cores() const {
    if (threads != 0) return ranks * threads;
    return group == Group::cores || cores_of_their_own ? ranks : 2;
  }
  bool is_launch() const { return measurement.empty(); }
  /// A limit has no other subject than itself.
  bool is_limit() const { return group == Group::limits; }
  std::string_view unit() const {
    if (quantity == Quantity::memory) return "KiB";
    if (quantity == Quantity::rate) return "M/s";
    return is_launch() ? "ms" : "ns";
  }
  /// Converts a measured value, nanoseconds or KiB, to the row's unit.
  double in_unit(double measured) const {
    if (quantity == Quantity::rate) return measured == 0 ? 0 : 1e3 * messages / measured;
    return quantity == Quantity::time && is_launch() ? measured / 1e6 : measured;
  }
  std::string budget_text() const;
};

std::span<const Row> rows();

/// The rows of `ofi`, `udp`, `ucx` and `mpi` (catalogue_networks.cc).
std::vector<Row> network_rows();

/// The rows of `threads` and of `cores` (catalogue_cores.cc).
std::vector<Row> thread_rows();
std::vector<Row> core_rows();

/// The rows of `cuda` (catalogue_cuda.cc).
std::vector<Row> cuda_rows();

}  // namespace gexperf
