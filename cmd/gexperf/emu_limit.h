#pragma once
// How long it takes by the model of emu (docs/emu.md) what goes over it: the limit of those rows.
//
// gexperf finds it, with the library's own reading of the model, and the worker lets so much time
// pass.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "catalogue.h"

namespace gexperf {

/// A latency of 1 us, and a bandwidth that any machine copies at twice.
inline constexpr const char* usual_emu_model =
    "latency=1us,send_overhead=200ns,receive_overhead=200ns,bandwidth=2GB/s";

/// The time of operations that begin as soon as they may.
struct EmuTime {
  double alone_ns = 0;          ///< one, until its end is known
  double interval_ns = 0;       ///< at least from one's beginning to the next's
  std::uint64_t under_way = 1;  ///< there is room for so many
  std::uint64_t together = 1;   ///< room comes back for so many, when the last of them has ended

  /// From the beginning of the first to the end of the last; at least one.
  double of(std::uint64_t count) const {
    // When the last ones began: of each, until another has its room.
    std::vector<double> begun(under_way);
    double last = 0;
    for (std::uint64_t i = 1; i < count; ++i) {
      last += interval_ns;
      if (i >= under_way) {
        const std::uint64_t gives_room = (i - under_way) / together * together + together - 1;
        last = std::max(last, begun[gives_room % under_way] + alone_ns);
      }
      begun[i % under_way] = last;
    }
    return last + alone_ns;
  }
};

/// Why a value of GEX_EMU gives these rows no time that is always the same; empty: it does.
std::string why_no_emu_time(const std::string& model);

/// Messages that a rank may have under way to another: GEX_EMU_QUEUE.
std::int64_t emu_queue();

/// The time of a row over emu, under a model that gives it one.
EmuTime emu_time(const Row& row, const std::string& model, std::int64_t queue);

}  // namespace gexperf
