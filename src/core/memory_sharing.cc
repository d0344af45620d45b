#include "core/memory_sharing.h"

namespace gex {

namespace {
const MemorySharing* registered = nullptr;
}  // namespace

void register_memory_sharing(const MemorySharing& sharing) noexcept {
  registered = &sharing;
}

const MemorySharing* memory_sharing() noexcept {
  return registered;
}

}  // namespace gex
