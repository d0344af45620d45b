#pragma once
// GEX_REQUIRE: what may connect the ranks of a job, as its user lists it: "shm,ofi:verbs", and how
// memory of other kinds than the host's may be reached: "cuda:ipc" (core/memory_class.h).
//
// An entry is a network by its name, or `shm` for shared memory (also `smp`), and behind a colon,
// if there is one, a way of that network's (`Conduit::transport`): all of its name, or words of it
// that follow one another.

#include <string>
#include <string_view>
#include <vector>

namespace gex {

class Requirement {
 public:
  Requirement() = default;
  /// Entries are separated by commas; blanks and empty entries do not count. An entry that has a
  /// comma in its way is written with another separator or a word of it.
  explicit Requirement(std::string_view text);

  /// Nothing is required.
  bool empty() const noexcept { return entries_.empty(); }
  /// Something is required of what connects ranks.
  bool is_about_pairs() const noexcept;
  /// An entry is of that network, or kind of memory.
  bool names(std::string_view network) const noexcept;

  bool accepts_shared_memory() const noexcept;
  /// `way`: empty where the network does not name any.
  bool accepts(std::string_view network, std::string_view way) const noexcept;

  /// The first entry that is neither shared memory, nor one of the networks, nor a kind of memory;
  /// empty: none.
  std::string first_unknown(const std::vector<std::string>& networks) const;

 private:
  struct Entry {
    std::string network;  ///< or a kind of memory
    std::string way;      ///< empty: any
  };
  std::vector<Entry> entries_;
};

}  // namespace gex
