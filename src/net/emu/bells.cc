#include "net/emu/bells.h"

namespace gex::net::emu {

Bells::Bells(std::uint32_t rank, const Layout& layout, std::span<std::byte> memory) noexcept
    : layout_(layout), memory_(memory), rank_(rank) {
  if (socket_.open()) bell(rank_).set_place(socket_.name());
  Policy::socket = &socket_;
}

Bells::~Bells() {
  Policy::socket = nullptr;
}

std::int32_t Bells::prepare(std::span<int> descriptors) noexcept {
  if (!socket_.is_open()) return never_wakes;
  // Before the bell is asked: what a ring of an earlier sleep leaves would end each later one.
  socket_.drain();
  if (!bell(rank_).arm_elsewhere()) return poll_again;
  descriptors[0] = socket_.descriptor();
  return 1;
}

}  // namespace gex::net::emu
