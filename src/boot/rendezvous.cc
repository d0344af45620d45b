#include "boot/rendezvous.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace gex::boot {

Gather::Gather(std::uint32_t ranks) : received_(ranks) {
}

Fault Gather::add(std::uint32_t rank, const FrameHeader& header,
                  std::span<const std::byte> payload) {
  Contribution& mine = received_[rank];
  if (header.sequence != sequence_ || mine.finished) {
    return "is at exchange " + std::to_string(header.sequence) + " while the job is at " +
           std::to_string(sequence_);
  }
  if (begun_ == 0) {
    if (header.total > max_exchange / received_.size()) {
      return "asks to exchange " + std::to_string(header.total) + " bytes among " +
             std::to_string(received_.size()) + " ranks, more than " +
             std::to_string(max_exchange) + " together";
    }
    each_ = header.total;
    first_rank_ = rank;
    try {
      bytes_.assign(each_ * received_.size(), std::byte{});
    } catch (const std::bad_alloc&) {
      return "asks to exchange " + std::to_string(header.total) +
             " bytes, for which there is no memory";
    }
  }
  if (header.total != each_) {
    return "exchanges " + std::to_string(header.total) + " bytes while rank " +
           std::to_string(first_rank_) + " exchanges " + std::to_string(each_);
  }
  if (header.offset != mine.bytes || payload.size() > each_ - mine.bytes ||
      (payload.empty() && each_ != 0)) {
    return "sent a piece of an exchange that does not fit";
  }
  if (!mine.begun) {
    mine.begun = true;
    ++begun_;
  }
  if (!payload.empty()) {
    std::memcpy(bytes_.data() + rank * each_ + mine.bytes, payload.data(), payload.size());
  }
  mine.bytes += payload.size();
  if (mine.bytes == each_) {
    mine.finished = true;
    ++finished_;
  }
  return std::nullopt;
}

Gather::Result Gather::take() {
  Result result{sequence_, std::make_shared<const std::vector<std::byte>>(std::move(bytes_))};
  bytes_ = {};
  std::fill(received_.begin(), received_.end(), Contribution{});
  begun_ = 0;
  finished_ = 0;
  ++sequence_;
  return result;
}

Fault Sharing::add(std::uint32_t rank, const FrameHeader& header, os::FileDescriptor descriptor,
                   std::optional<Group>& complete) {
  const std::uint32_t first = header.first;
  const std::uint32_t count = header.count;
  const std::uint32_t owner = header.owner;
  if (count == 0 || first >= ranks_ || count > ranks_ - first || rank < first ||
      rank - first >= count || owner < first || owner - first >= count) {
    return "shares a descriptor among ranks " + std::to_string(first) + " and the " +
           std::to_string(count) + " from there, which it or the giver is not one of";
  }
  if (static_cast<bool>(descriptor) != (rank == owner)) {
    return rank == owner
               ? "was to share a descriptor and gave none"
               : "shares a descriptor that rank " + std::to_string(owner) + " was to give";
  }
  const auto [at, made] = groups_.try_emplace({first, count, owner});
  Group& group = at->second;
  if (made) {
    group.first = first;
    group.count = count;
    group.owner = owner;
    group.arrived.resize(count);
    group.missing = count;
  }
  if (group.arrived[rank - first]) return "shares a second descriptor before the first is done";
  group.arrived[rank - first] = true;
  --group.missing;
  if (descriptor)
    group.descriptor = std::make_shared<const os::FileDescriptor>(std::move(descriptor));
  if (group.missing == 0) {
    complete = std::move(group);
    groups_.erase(at);
  }
  return std::nullopt;
}

}  // namespace gex::boot
