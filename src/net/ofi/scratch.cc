#include "net/ofi/scratch.h"

#include <sys/mman.h>

namespace gex::net::ofi {

Scratch::Scratch(Registrar& registrar, std::string& error) : by_address_(registrar.by_address()) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    error = "no memory for a page";
    return;
  }
  memory_ = static_cast<std::byte*>(memory);
  region_ =
      registrar.add(memory_, size, FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE, error);
}

Scratch::~Scratch() {
  region_.reset();
  if (memory_ != nullptr) munmap(memory_, size);
}

void* Scratch::descriptor() const noexcept {
  return region_ ? fi_mr_desc(region_.get()) : nullptr;
}

Place Scratch::place_of(std::size_t offset) const noexcept {
  const std::uint64_t origin = by_address_ ? reinterpret_cast<std::uint64_t>(memory_) : 0;
  return {origin + offset, region_ ? fi_mr_key(region_.get()) : 0};
}

}  // namespace gex::net::ofi
