#pragma once
// A table of values that begin as zero bits, one for each rank of the job, of which few are ever
// touched: memory is taken, a page at a time, by the first touch.
//
// Thread rules: those of its values.

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "base/os_mapping.h"

namespace gex {

/// `Value`: of which all bits 0 is a valid object, and that needs no destructor.
template <class Value>
class ZeroedTable {
  static_assert(std::is_trivially_destructible_v<Value>);

 public:
  ZeroedTable() = default;
  explicit ZeroedTable(std::size_t size) : size_(size) {
    if (size == 0) return;
    memory_ = os::Mapping::anonymous(size * sizeof(Entry));
    if (!memory_) throw std::bad_alloc();
    entries_ = reinterpret_cast<Entry*>(memory_.data());
  }
  ZeroedTable(ZeroedTable&& other) noexcept { *this = std::move(other); }
  ZeroedTable& operator=(ZeroedTable&& other) noexcept {
    memory_ = std::move(other.memory_);
    entries_ = std::exchange(other.entries_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  Value& operator[](std::size_t rank) noexcept { return entries_[rank].value; }
  const Value& operator[](std::size_t rank) const noexcept { return entries_[rank].value; }

 private:
  struct Entry {
    Value value;
  };
  os::Mapping memory_;
  Entry* entries_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gex
