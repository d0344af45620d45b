#include "boot/rendezvous.h"

#include <cstring>
#include <new>

namespace gex::boot {

Gather::Gather(const HostParts& hosts) : ranks_(hosts.ranks()), lowest_(0) {
  for (const HostPart& part : hosts) received_.push_back({part});
}

Gather::Gather(const HostPart& part) : ranks_(part.count), lowest_(part.first) {
  for (std::uint32_t i = 0; i < part.count; ++i) {
    received_.push_back({{{}, part.first + i, 1}});
  }
}

Fault Gather::add(std::uint32_t contributor, const FrameHeader& header,
                  std::span<const std::byte> payload) {
  Contribution& mine = received_[contributor];
  if (header.sequence != sequence_ || mine.finished) {
    return "is at exchange " + std::to_string(header.sequence) + " while the job is at " +
           std::to_string(sequence_);
  }
  if (header.total % mine.ranks.count != 0) return "sent an exchange that does not fit its ranks";
  const std::uint64_t each = header.total / mine.ranks.count;
  if (begun_ == 0) {
    if (each > max_exchange / ranks_) {
      return "asks to exchange " + std::to_string(each) + " bytes among " + std::to_string(ranks_) +
             " ranks, more than " + std::to_string(max_exchange) + " together";
    }
    each_ = each;
    first_rank_ = mine.ranks.first;
    try {
      bytes_.assign(each_ * ranks_, std::byte{});
    } catch (const std::bad_alloc&) {
      return "asks to exchange " + std::to_string(each) + " bytes, for which there is no memory";
    }
  }
  if (each != each_) {
    return "exchanges " + std::to_string(each) + " bytes while rank " +
           std::to_string(first_rank_) + " exchanges " + std::to_string(each_);
  }
  if (header.offset != mine.bytes || payload.size() > header.total - mine.bytes ||
      (payload.empty() && each_ != 0)) {
    return "sent a piece of an exchange that does not fit";
  }
  if (!mine.begun) {
    mine.begun = true;
    ++begun_;
  }
  if (!payload.empty()) {
    std::memcpy(bytes_.data() + (mine.ranks.first - lowest_) * each_ + mine.bytes, payload.data(),
                payload.size());
  }
  mine.bytes += payload.size();
  if (mine.bytes == header.total) {
    mine.finished = true;
    ++finished_;
  }
  return std::nullopt;
}

Gather::Result Gather::take() {
  Result result{sequence_, std::make_shared<const std::vector<std::byte>>(std::move(bytes_))};
  bytes_ = {};
  for (Contribution& contribution : received_) contribution = {contribution.ranks};
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
  const std::uint32_t end = ranks_.first + ranks_.count;
  if (count == 0 || first < ranks_.first || first >= end || count > end - first || rank < first ||
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
