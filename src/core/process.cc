#include "core/process.h"

struct gex_Proc_ gex_proc_ = {};

namespace gex {

Immortal<Process> the_process;
std::atomic<bool> verbose_errors{true};

const char* mode_name(std::uint32_t mode) noexcept {
  switch (mode) {
    case GEX_MODE_SEQ_:
      return "SEQ";
    case GEX_MODE_PARSYNC_:
      return "PARSYNC";
    case GEX_MODE_PAR_:
      return "PAR";
    default:
      return "(unknown mode)";
  }
}

}  // namespace gex
