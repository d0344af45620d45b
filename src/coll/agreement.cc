#include "coll/agreement.h"

#include "base/error.h"
#include "coll/wire.h"
#include "core/data_types.h"

namespace gex::coll {

namespace {

const char* or_none(const char* name) noexcept {
  return name != nullptr ? name : "none";
}

/// Ends the job if they differ.
void require_same(const Announcement& one, gex_Rank_t one_rank, const Announcement& other,
                  gex_Rank_t other_rank) noexcept {
  const char* call = name_of(one.call);
  if (one.call != other.call)
    fatal("%s in rank %u of the team meets %s in rank %u: collective calls are made in one order",
          call, one_rank, name_of(other.call), other_rank);
  if (one.root != other.root)
    fatal("%s: root is %u in rank %u of the team, and %u in rank %u", call, one.root, one_rank,
          other.root, other_rank);
  if (one.type != other.type)
    fatal("%s: dt is %s in rank %u of the team, and %s in rank %u", call,
          or_none(name_of_type(one.type)), one_rank, or_none(name_of_type(other.type)), other_rank);
  if (one.bytes != other.bytes)
    fatal("%s: %s is %lu in rank %u of the team, and %lu in rank %u", call,
          one.type != 0 ? "dt_sz" : "nbytes", static_cast<unsigned long>(one.bytes), one_rank,
          static_cast<unsigned long>(other.bytes), other_rank);
  if (one.count != other.count)
    fatal("%s: dt_cnt is %lu in rank %u of the team, and %lu in rank %u", call,
          static_cast<unsigned long>(one.count), one_rank, static_cast<unsigned long>(other.count),
          other_rank);
  // A domain is made of several operations.
  if (one.operation != other.operation && one.call == Call::ad_create)
    fatal("%s: ops is 0x%x in rank %u of the team, and 0x%x in rank %u", call, one.operation,
          one_rank, other.operation, other_rank);
  if (one.operation != other.operation)
    fatal("%s: op is %s in rank %u of the team, and %s in rank %u", call,
          or_none(name_of_operation(one.operation)), one_rank,
          or_none(name_of_operation(other.operation)), other_rank);
  if (one.flags != other.flags)
    fatal("%s: flags are 0x%x in rank %u of the team, and 0x%x in rank %u", call, one.flags,
          one_rank, other.flags, other_rank);
}

}  // namespace

std::uint32_t Agreement::announce(const Announcement& announcement) {
  const std::uint32_t number = announced_++;
  if (team_->rank == 0)
    announced(number, 0, announcement);
  else
    unsent_.push_back({number, announcement});
  advance();
  return number;
}

bool Agreement::advance() {
  bool progressed = false;
  while (!unsent_.empty() &&
         send_announcement(*team_, unsent_.front().number, unsent_.front().announcement)) {
    unsent_.pop_front();
    progressed = true;
  }
  if (notified_.empty()) return progressed;
  for (gex_Rank_t rank = 1; rank < team_->size; ++rank) {
    if (notified_[rank] == agreed_ || !send_agreement(*team_, rank, agreed_)) continue;
    notified_[rank] = agreed_;
    progressed = true;
  }
  return progressed;
}

bool Agreement::idle() const noexcept {
  if (!unsent_.empty() || agreed_ != announced_) return false;
  for (gex_Rank_t rank = 1; rank < notified_.size(); ++rank)
    if (notified_[rank] != agreed_) return false;
  return true;
}

void Agreement::announced(std::uint32_t number, gex_Rank_t source,
                          const Announcement& announcement) {
  const auto [found, added] = records_.emplace(number, Record{announcement, source, 0});
  Record& record = found->second;
  if (!added) require_same(record.announcement, record.source, announcement, source);
  ++record.members;
  // Before rank 0 has bound its team here it cannot have announced anything, so that not all have.
  if (team_ == nullptr) return;
  while (!records_.empty() && records_.begin()->first == agreed_ &&
         records_.begin()->second.members == team_->size) {
    records_.erase(records_.begin());
    ++agreed_;
    notified_.resize(team_->size);
  }
}

void Agreement::agreed(std::uint32_t below) noexcept {
  // Messages may overtake each other: the furthest counts.
  if (static_cast<std::int32_t>(below - agreed_) > 0) agreed_ = below;
}

}  // namespace gex::coll
