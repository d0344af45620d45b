#include "legacy/attach.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "am/handlers.h"
#include "am/set_aside.h"
#include "core/process.h"
#include "core/refuse.h"
#include "core/team.h"
#include "team/exchange.h"
#include "team/lifecycle.h"

namespace gex::legacy {

namespace {

constexpr const char* call = "gasnet_attach";

/// The ranks exchange these before anything is attached.
struct Proposal {
  std::uint64_t heap_offset;
  std::int32_t error;  ///< of the rank's own arguments
  std::uint32_t reserved;
};

std::vector<Proposal> exchange_proposals(Team& team, const Proposal& mine) {
  const auto blocks = team::exchange(team, std::as_bytes(std::span(&mine, 1)));
  std::vector<Proposal> proposals(blocks.size());
  for (std::size_t r = 0; r < blocks.size(); ++r)
    std::memcpy(&proposals[r], blocks[r].data(), sizeof proposals[r]);
  return proposals;
}

int check_arguments(const gasnet_handlerentry_t* table, int count, std::uintptr_t segment_size) {
  if (count < 0) return refuse(GASNET_ERR_BAD_ARG, call, "numentries is negative");
  if (count != 0 && table == nullptr)
    return refuse(GASNET_ERR_BAD_ARG, call, "the table is null, but has entries");
  if (segment_size % GASNET_PAGESIZE != 0)
    return refuse(GASNET_ERR_BAD_ARG, call, "segsize is not a multiple of GASNET_PAGESIZE");
  if (segment_size > process().neighborhood.max_segment())
    return refuse(GASNET_ERR_BAD_ARG, call,
                  "segsize is above gasnet_getMaxLocalSegmentSize() (GASNET_MAX_SEGSIZE)");
  return GASNET_OK;
}

/// Registers the handlers of a table with the endpoint and writes their indices to the table. They
/// have no functions, and what arrives for them is set aside, until they are kept; all is undone if
/// they are not.
class Registration {
 public:
  Registration(gex_EP_t endpoint, std::span<gasnet_handlerentry_t> table)
      : endpoint_(endpoint), table_(table), asked_(table.begin(), table.end()) {
    for (const gasnet_handlerentry_t& entry : table)
      entries_.push_back(
          {entry.index, entry.fnptr, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 0, nullptr, nullptr});
    error_ = am::register_handlers(endpoint_, entries_.data(), entries_.size(), call);
    if (error_ != GASNET_OK) return;
    // Any category, any number of arguments: gex_EP_RegisterHandlers does not allow that.
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      table_[i].index = entries_[i].gex_index;
      gex_AM_Entry_t& registered = endpoint_->handlers[entries_[i].gex_index];
      registered.gex_flags |= GEX_FLAG_AM_MEDLONG;
      registered.gex_nargs = am::any_arg_count;
      registered.gex_fnptr = nullptr;
    }
  }
  ~Registration() {
    if (error_ != GASNET_OK) return;
    for (const gex_AM_Entry_t& entry : entries_) endpoint_->handlers[entry.gex_index] = {};
    std::copy(asked_.begin(), asked_.end(), table_.begin());
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  int error() const { return error_; }

  void keep() {
    for (const gex_AM_Entry_t& entry : entries_)
      endpoint_->handlers[entry.gex_index].gex_fnptr = entry.gex_fnptr;
    entries_.clear();
    asked_.clear();
  }

 private:
  gex_EP_t endpoint_;
  am::SetAside set_aside_{endpoint_};
  std::span<gasnet_handlerentry_t> table_;
  std::vector<gasnet_handlerentry_t> asked_;
  std::vector<gex_AM_Entry_t> entries_;
  int error_;
};

}  // namespace

int attach(gasnet_handlerentry_t* table, int count, std::uintptr_t segment_size,
           std::uintptr_t heap_offset, void (*attached)(gex_Segment_t segment)) {
  Team& team = Team::from(gex_proc_.gasnet1_team);
  const int flaw = check_arguments(table, count, segment_size);
  Registration handlers(team.endpoint,
                        {table, flaw == GASNET_OK ? static_cast<std::size_t>(count) : 0});

  // A rank whose arguments are wrong must not leave the others waiting. Besides, no rank leaves the
  // exchange before all have their handlers.
  const int own_error = flaw != GASNET_OK ? flaw : handlers.error();
  const std::vector<Proposal> proposals = exchange_proposals(team, {heap_offset, own_error, 0});
  if (own_error != GASNET_OK) return own_error;
  for (const Proposal& proposal : proposals)
    if (proposal.error != GASNET_OK) return GASNET_ERR_RESOURCE;
  for (const Proposal& proposal : proposals)
    if (proposal.heap_offset != proposals.front().heap_offset)
      return refuse(GASNET_ERR_BAD_ARG, call, "minheapoffset is not the same on all ranks");

  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  const int result = team::attach(&segment, team, segment_size);
  if (result != GASNET_OK) return result;
  attached(segment);
  handlers.keep();
  return GASNET_OK;
}

}  // namespace gex::legacy
