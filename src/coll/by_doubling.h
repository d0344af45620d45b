#pragma once
// Gathers to all and exchanges of few bytes for each member, over several neighborhoods, in rounds
// at doubling distance (doubling.h). Each round is an operation by messages, launched when the one
// before it has brought what it sends on.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/composed.h"
#include "coll/doubling.h"

namespace gex::coll {

class DoublingCollective final : public ComposedCollective {
 public:
  DoublingCollective(Team& team, Messages& messages)
      : ComposedCollective(Way::doubling), team_(team), messages_(messages) {}

  /// Returns true if this is the way for such an operation; the same answer at all members.
  static bool suits(const Request& request, gex_Rank_t members) noexcept;

  void set_up() override;
  bool launch_parts() override;
  bool is_launched() const noexcept override { return launched_ == rounds_.rounds(); }
  bool advance_parts() override;
  bool has_moved() const noexcept override { return taken_ == rounds_.rounds(); }

 private:
  std::byte* place(std::uint32_t number) noexcept { return row_.data() + number * request.bytes; }
  void fill_row();
  void empty_row();

  Team& team_;
  Messages& messages_;
  Doubling rounds_{};
  unsigned launched_ = 0;
  unsigned taken_ = 0;
  MessageCollective round_;
  std::vector<std::byte> row_;
  std::vector<std::byte> sent_;
  std::vector<std::byte> received_;
};

}  // namespace gex::coll
