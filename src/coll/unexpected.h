#pragma once
// Messages that come before their operation has begun here, or after it is done.
//
// Early ones are kept until the operation begins, or until the place of their bytes is free: data
// of eager flows (flow.h), and grants. A late one is of a flow whose content has come another way
// (known.h): from the end of the operation it is owed, until it has come.
//
// Pure: no process, no network.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "coll/flow.h"

namespace gex::coll {

class UnexpectedMessages {
 public:
  void keep_data(const FlowName& flow, std::uint64_t offset, std::span<const std::byte> bytes) {
    std::vector<std::byte> buffer;
    if (!spare_.empty()) {
      buffer = std::move(spare_.back());
      spare_.pop_back();
    }
    buffer.assign(bytes.begin(), bytes.end());
    data_.push_back({flow, offset, std::move(buffer)});
  }
  void keep_grant(const FlowName& flow, std::uint32_t granted) {
    grants_.push_back({flow, granted});
  }
  bool has_data() const noexcept { return !data_.empty(); }

  /// Calls `act(flow, offset, bytes)` for the data of an operation that is kept, of each phase for
  /// which `is_due(phase)`, and keeps it no more.
  template <class IsDue, class Act>
  void take_data(std::uint32_t number, IsDue is_due, Act act) {
    const auto is_taken = [&](const Data& each) {
      return each.flow.number == number && is_due(each.flow.phase);
    };
    take(data_, is_taken, [&](Data& each) {
      act(each.flow, each.offset, std::span<const std::byte>(each.bytes));
      spare_.push_back(std::move(each.bytes));
    });
  }
  /// Calls `act(flow, granted)` for the grants of an operation, and keeps them no more.
  template <class Act>
  void take_grants(std::uint32_t number, Act act) {
    const auto is_taken = [&](const Grant& each) { return each.flow.number == number; };
    take(grants_, is_taken, [&](const Grant& each) { act(each.flow, each.granted); });
  }

  /// The operation is done, and the flow's message is still to come.
  void owe(const FlowName& flow) { owed_.push_back(flow); }
  bool is_owed() const noexcept { return !owed_.empty(); }
  /// Returns true if a message is one that was owed, which it is no more.
  bool take_owed(const FlowName& flow) { return std::erase(owed_, flow) != 0; }

 private:
  struct Data {
    FlowName flow;
    std::uint64_t offset;
    std::vector<std::byte> bytes;
  };
  struct Grant {
    FlowName flow;
    std::uint32_t granted;
  };

  /// In no order: messages may overtake each other anyway. `act` may keep others.
  template <class Message, class IsTaken, class Act>
  static void take(std::vector<Message>& kept, IsTaken is_taken, Act act) {
    for (std::size_t i = 0; i < kept.size();) {
      if (!is_taken(kept[i])) {
        ++i;
        continue;
      }
      Message taken = std::move(kept[i]);
      kept[i] = std::move(kept.back());
      kept.pop_back();
      act(taken);
    }
  }

  std::vector<Data> data_;
  std::vector<Grant> grants_;
  std::vector<FlowName> owed_;
  std::vector<std::vector<std::byte>> spare_;  ///< buffers, for the next data
};

}  // namespace gex::coll
