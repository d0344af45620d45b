#pragma once
// A table of values that begin as zero bits, one for each rank of the job, of which few are ever
// touched: memory is taken, a page at a time, by the first touch. All of it is in this header,
// since plug-ins use it, which have nothing of base's but headers.
//
// Thread rules: those of its values.

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace gex {

/// `Value`: of which all bits 0 is a valid object, and that needs no destructor.
template <class Value>
class ZeroedTable {
  static_assert(std::is_trivially_destructible_v<Value>);

 public:
  ZeroedTable() = default;
  explicit ZeroedTable(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* const memory = mmap(nullptr, size * sizeof(Entry), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    entries_ = static_cast<Entry*>(memory);
  }
  ZeroedTable(ZeroedTable&& other) noexcept { *this = std::move(other); }
  ZeroedTable& operator=(ZeroedTable&& other) noexcept {
    std::swap(entries_, other.entries_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ZeroedTable() {
    if (entries_ != nullptr) munmap(entries_, size_ * sizeof(Entry));
  }

  std::size_t size() const noexcept { return size_; }
  Value& operator[](std::size_t rank) noexcept { return entries_[rank].value; }
  const Value& operator[](std::size_t rank) const noexcept { return entries_[rank].value; }

 private:
  struct Entry {
    Value value;
  };
  Entry* entries_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gex
