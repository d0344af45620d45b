#include "launch/channel.h"

#include <algorithm>

namespace gex::launch {

void Channel::queue(const job::FrameHeader& header, SharedDescriptor descriptor) {
  if (open()) queue_.push_back({header, nullptr, std::move(descriptor)});
}

void Channel::queue(job::FrameHeader header, SharedBytes body, SharedDescriptor descriptor) {
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
      payload = payload.first(std::min(payload.size(), job::max_payload));
    }
    const int descriptor = next.descriptor ? next.descriptor->get() : -1;
    switch (job::send_frame(socket_.get(), next.header, payload, descriptor, /*wait=*/false)) {
      case job::Sent::whole:
        break;
      case job::Sent::would_block:
        return State::blocked;
      case job::Sent::no_descriptors:
        return State::starved;
      case job::Sent::closed:
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

}  // namespace gex::launch
