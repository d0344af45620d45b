#include "launch/rendezvous.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>

#include "job/packed_table.h"

namespace gex::launch {

Gather::Gather(std::vector<job::RankSet> contributors) : packs_(true) {
  for (job::RankSet& ranks : contributors) received_.push_back({std::move(ranks), {}, {}});
  ranks_ = place();
}

Gather::Gather(const job::HostPart& part) {
  for (const std::uint32_t rank : part.ranks) received_.push_back({{rank}, {}, {}});
  ranks_ = place();
}

/// Gives the ranks of the contributors, which it returns, their places in the result.
job::RankSet Gather::place() {
  std::vector<std::uint32_t> all;
  contributors_ = 0;
  for (const Contribution& one : received_) {
    all.insert(all.end(), one.ranks.begin(), one.ranks.end());
    contributors_ += one.ranks.empty() ? 0 : 1;
  }
  std::sort(all.begin(), all.end());
  job::RankSet ranks(std::move(all));
  for (Contribution& one : received_) {
    one.places.clear();
    for (const std::uint32_t rank : one.ranks) one.places.push_back(ranks.index_of(rank));
  }
  return ranks;
}

void Gather::reassign(const job::RankSet& ranks, std::optional<std::uint32_t> contributor) {
  for (Contribution& one : received_) {
    job::RankSet kept;
    for (const std::uint32_t rank : one.ranks)
      if (!ranks.contains(rank)) kept.add(rank);
    one.ranks = std::move(kept);
  }
  if (contributor) received_[*contributor].ranks = ranks;
  const job::RankSet before = std::exchange(ranks_, place());
  if (!is_sized_ || kind_ == job::Exchange::least || ranks_ == before) return;
  std::vector<std::byte> kept(each_ * ranks_.size());
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    if (!ranks_.contains(before[i])) continue;
    const auto block = std::span(bytes_).subspan(i * each_, each_);
    std::ranges::copy(
        block, kept.begin() + static_cast<std::ptrdiff_t>(ranks_.index_of(before[i]) * each_));
  }
  bytes_ = std::move(kept);
}

Fault Gather::add(std::uint32_t contributor, const job::FrameHeader& header,
                  std::span<const std::byte> payload) {
  Contribution& mine = received_[contributor];
  if (header.sequence != sequence_ || mine.finished) {
    return "is at exchange " + std::to_string(header.sequence) + " while the job is at " +
           std::to_string(sequence_);
  }
  const auto kind = static_cast<job::Exchange>(header.count);
  const bool combines = kind == job::Exchange::least;
  const bool is_packed = packs_ && !combines;
  const std::size_t parts = combines || is_packed ? 1 : mine.places.size();
  const bool is_known = combines || kind == job::Exchange::all || kind == job::Exchange::on_host;
  if (mine.ranks.empty() || header.total % parts != 0 || !is_known ||
      (packs_ && kind == job::Exchange::on_host && header.total != 0)) {
    return "sent an exchange that does not fit its ranks";
  }
  if (!is_packed) {
    if (Fault wrong = check_size(mine, kind, header.total / parts)) return wrong;
  }
  if (Fault wrong = check_piece(mine, header, payload)) return wrong;
  if (!mine.begun) {
    mine.begun = true;
    ++begun_;
  }
  mine.finished = mine.bytes + payload.size() == header.total;
  if (is_packed) {
    if (Fault wrong = take_packed(mine, kind, payload, mine.finished)) return wrong;
  } else if (combines) {
    combine(payload);
  } else {
    scatter(mine, mine.bytes, payload);
  }
  mine.bytes += payload.size();
  finished_ += mine.finished ? 1 : 0;
  return std::nullopt;
}

Fault Gather::check_piece(const Contribution& mine, const job::FrameHeader& header,
                          std::span<const std::byte> payload) const {
  const bool combines = static_cast<job::Exchange>(header.count) == job::Exchange::least;
  if (header.offset != mine.bytes || payload.size() > header.total - mine.bytes ||
      header.total > job::max_exchange + job::max_growth ||
      (payload.empty() && header.total != 0) || (combines && payload.size() != header.total)) {
    return "sent a malformed piece of an exchange";
  }
  return std::nullopt;
}

/// The first contributor determines how much a rank gives to the exchange.
Fault Gather::check_size(const Contribution& mine, job::Exchange kind, std::uint64_t each) {
  if (!is_sized_) {
    if (Fault wrong = begin(mine, kind, each)) return wrong;
  }
  if (each == each_ && kind == kind_) return std::nullopt;
  return "exchanges " + std::to_string(each) + " bytes while rank " + std::to_string(first_rank_) +
         " exchanges " + std::to_string(each_) + (each == each_ ? " of another kind" : "");
}

/// Keeps a piece of the packed blocks of a contributor's ranks, and takes the blocks with the last.
Fault Gather::take_packed(Contribution& mine, job::Exchange kind,
                          std::span<const std::byte> payload, bool is_last) {
  mine.packed.insert(mine.packed.end(), payload.begin(), payload.end());
  if (!is_last) return std::nullopt;
  const std::size_t parts = mine.places.size();
  const auto blocks = job::unpack_table(mine.packed, parts, job::max_exchange);
  mine.packed = {};
  if (!blocks) return "sent a malformed table of an exchange";
  if (Fault wrong = check_size(mine, kind, blocks->size() / parts)) return wrong;
  scatter(mine, 0, *blocks);
  return std::nullopt;
}

/// Begins an exchange to which a rank gives so many bytes.
Fault Gather::begin(const Contribution& first, job::Exchange kind, std::uint64_t each) {
  const bool combines = kind == job::Exchange::least;
  if (combines && (each > job::max_least || each % sizeof(std::uint64_t) != 0)) {
    return "asks for the least of " + std::to_string(each) + " bytes";
  }
  if (!combines && each > job::max_exchange / ranks_.size()) {
    return "asks to exchange " + std::to_string(each) + " bytes among " +
           std::to_string(ranks_.size()) + " ranks, more than " +
           std::to_string(job::max_exchange) + " together";
  }
  try {
    // All bits set: no number is larger.
    if (combines)
      bytes_.assign(each, std::byte{0xff});
    else
      bytes_.assign(each * ranks_.size(), std::byte{});
  } catch (const std::bad_alloc&) {
    return "asks to exchange " + std::to_string(each) + " bytes, for which there is no memory";
  }
  kind_ = kind;
  each_ = each;
  first_rank_ = first.ranks.front();
  is_sized_ = true;
  return std::nullopt;
}

/// Takes numbers of 64 bits, which come in one piece.
void Gather::combine(std::span<const std::byte> numbers) {
  for (std::size_t at = 0; at < numbers.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t theirs = 0;
    std::uint64_t least = 0;
    std::memcpy(&theirs, numbers.data() + at, sizeof theirs);
    std::memcpy(&least, bytes_.data() + at, sizeof least);
    least = std::min(least, theirs);
    std::memcpy(bytes_.data() + at, &least, sizeof least);
  }
}

/// Copies a piece of a contribution, which holds the bytes of its ranks one after the other, to
/// their places in the result; `at`: where the piece begins in it.
void Gather::scatter(const Contribution& from, std::uint64_t at, std::span<const std::byte> piece) {
  while (!piece.empty()) {
    const std::uint64_t within = at % each_;
    const std::size_t bytes = std::min<std::uint64_t>(each_ - within, piece.size());
    std::memcpy(bytes_.data() + from.places[at / each_] * each_ + within, piece.data(), bytes);
    at += bytes;
    piece = piece.subspan(bytes);
  }
}

Gather::Result Gather::take() {
  if (packs_ && kind_ != job::Exchange::least) bytes_ = job::pack_table(bytes_, ranks_.size());
  Result result{sequence_, kind_,
                std::make_shared<const std::vector<std::byte>>(std::move(bytes_))};
  bytes_ = {};
  for (Contribution& contribution : received_) {
    contribution.bytes = 0;
    contribution.begun = contribution.finished = false;
  }
  is_sized_ = false;
  begun_ = 0;
  finished_ = 0;
  ++sequence_;
  return result;
}

Fault Sharing::add(std::uint32_t rank, const job::FrameHeader& header,
                   std::span<const std::byte> payload, os::FileDescriptor descriptor,
                   std::optional<Group>& complete) {
  const std::uint32_t owner = header.owner;
  std::vector<std::uint32_t> named(payload.size() / sizeof(std::uint32_t));
  if (!named.empty()) std::memcpy(named.data(), payload.data(), named.size() * sizeof named[0]);
  // Not `is_sorted`, which accepts a rank that is named twice.
  const bool rising =
      std::adjacent_find(named.begin(), named.end(), std::greater_equal<>()) == named.end();
  if (!rising || !std::includes(part_.ranks.begin(), part_.ranks.end(), named.begin(), named.end()))
    return "shares a descriptor among invalid ranks";
  const job::RankSet ranks(std::move(named));
  if (!ranks.contains(rank) || !ranks.contains(owner)) {
    return "shares a descriptor among " + job::describe_ranks(ranks) +
           ", which do not include it or the owner of the descriptor";
  }
  if (static_cast<bool>(descriptor) != (rank == owner)) {
    return rank == owner ? "owns a shared descriptor and sent none"
                         : "sent a shared descriptor that rank " + std::to_string(owner) + " owns";
  }
  const auto [at, made] = groups_.try_emplace({ranks, owner});
  Group& group = at->second;
  if (made) {
    group.ranks = ranks;
    group.owner = owner;
    group.arrived.resize(ranks.size());
    group.missing = ranks.size();
  }
  const std::uint32_t place = ranks.index_of(rank);
  if (group.arrived[place]) return "shares a second descriptor before the first was received";
  group.arrived[place] = true;
  --group.missing;
  if (descriptor)
    group.descriptor = std::make_shared<const os::FileDescriptor>(std::move(descriptor));
  if (group.missing == 0) {
    complete = std::move(group);
    groups_.erase(at);
  }
  return std::nullopt;
}

}  // namespace gex::launch
