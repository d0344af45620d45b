#pragma once
// The state that rooms above core keep with a record of core's, a thread's or a team's: one pointer
// for each slot, whose type is that of the room which declares it:
//
//   using PartSlot = Slot<ThreadRecord, ThreadSlot::observe, ThreadPart>;
//   ThreadPart* const part = PartSlot::of(thread);  // null until `PartSlot::set`
//
// A slot is read with one load, as a member would be. The room that sets it decides how long the
// object lives. Thread rules: those of the record.

#include <type_traits>

namespace gex {

/// The slots of a record. `Number`: an enumeration of them, `count` behind the last.
template <class Number>
class Slots {
 private:
  template <class Record, auto number, class T>
  friend class Slot;

  void* kept_[static_cast<unsigned>(Number::count)] = {};
};

/// A slot of records that have a member `slots`. Each number is declared by one room only.
template <class Record, auto number, class T>
class Slot {
 public:
  static T* of(const Record& record) noexcept {
    return static_cast<T*>(record.slots.kept_[static_cast<unsigned>(number)]);
  }
  static void set(Record& record, T* kept) noexcept {
    record.slots.kept_[static_cast<unsigned>(number)] = const_cast<std::remove_const_t<T>*>(kept);
  }
};

}  // namespace gex
