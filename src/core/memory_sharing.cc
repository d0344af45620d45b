#include "core/memory_sharing.h"

namespace gex {

constinit const MemorySharing no_sharing{
    .export_segment = [](const _gex_Segment&) { return ExportedMemory{}; },
    .begin_receiving = [] { return std::uint64_t{0}; },
    .send = [](const ExportedMemory&, std::uint64_t) {},
    .end_receiving = [] {},
    .open =
        [](const ExportedMemory&, std::size_t) {
          return OpenedMemory{.why = "processes do not open such memory of others"};
        },
    .close = [](const OpenedMemory&) {}};

}  // namespace gex
