#include "boot/channel.h"

#include <algorithm>

namespace gex::boot {

void Channel::queue(const FrameHeader& header, SharedDescriptor descriptor) {
  if (open()) queue_.push_back({header, nullptr, std::move(descriptor)});
}

void Channel::queue(FrameHeader header, SharedBytes body, SharedDescriptor descriptor) {
  if (!open()) return;
  header.total = body->size();
  header.offset = 0;
  queue_.push_back({header, std::move(body), std::move(descriptor)});
}

Channel::State Channel::flush() {
  if (!open()) return State::broken;
  while (!queue_.empty()) {
    Outgoing& next = queue_.front();
    std::span<const std::byte> payload;
    if (next.body) {
      payload = std::span(*next.body).subspan(next.header.offset);
      payload = payload.first(std::min(payload.size(), max_payload));
    }
    const int descriptor = next.descriptor ? next.descriptor->get() : -1;
    switch (send_frame(socket_.get(), next.header, payload, descriptor, /*wait=*/false)) {
      case Sent::whole:
        break;
      case Sent::would_block:
        return State::blocked;
      case Sent::no_descriptors:
        return State::starved;
      case Sent::closed:
        queue_.clear();
        return State::broken;
    }
    next.header.offset += payload.size();
    next.descriptor.reset();
    if (!next.body || next.header.offset == next.body->size()) queue_.pop_front();
  }
  return State::idle;
}

void Channel::close() {
  queue_.clear();
  socket_.reset();
}

}  // namespace gex::boot
