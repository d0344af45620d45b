/// @file
/// The state that the layer keeps for each thread. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_THREAD_HPP_
#define UPCXX_THREAD_HPP_

#include <cstddef>
#include <new>

#include <upcxx/version.hpp>

namespace upcxx {

class persona;
class persona_scope;

namespace detail {

class StateBase;

/// Memory of one size that a thread uses again: it keeps a bounded number of blocks.
class Blocks {
 public:
  /// nullptr if there are none.
  void* take() {
    Block* const block = first_;
    if (block != nullptr) {
      first_ = block->next;
      ++more_;
    }
    return block;
  }
  /// Returns false if the thread keeps enough.
  bool keep(void* memory) {
    if (more_ == 0 && !begin()) return false;
    --more_;
    first_ = ::new (memory) Block{first_};
    return true;
  }

 private:
  friend struct EndOfBlocks;
  struct Block {
    Block* next;
  };
  /// Has the end of a thread that has kept no block yet free those that it keeps; true on success.
  UPCXXI_EXPORT bool begin();

  Block* first_;
  std::size_t more_;  // 0 at first
};

/// States that have become ready and whose callbacks have not run, in order.
struct ReadyStates {
  StateBase* first = nullptr;
  StateBase* last = nullptr;
};

struct ThreadState {
  persona_scope* top;     ///< The stack of personas; nullptr: no persona was used yet.
  ReadyStates* ready;     ///< Where a state that becomes ready in a callback of a future is put.
  StateBase* to_destroy;  ///< States without references.
  bool destroying;        ///< They are being destroyed by a caller further up.
  int callbacks;          ///< Depth of user progress: above 0 in its callbacks.
  Blocks messages;        ///< Memory of small messages that have arrived.
  Blocks records;         ///< Memory of small states of futures and of calls.
};

// Not thread_local, which makes every access test whether an initializer is to be run.
extern UPCXXI_EXPORT __thread ThreadState this_thread __attribute__((tls_model("initial-exec")));

/// A base of objects that are made and freed with each operation.
class Record {
 public:
  static void* operator new(std::size_t size) {
    if (size > max_bytes) return ::operator new(size);
    void* const kept = this_thread.records.take();
    return kept != nullptr ? kept : ::operator new(max_bytes);
  }
  static void operator delete(void* memory, std::size_t size) {
    if (size > max_bytes || !this_thread.records.keep(memory)) ::operator delete(memory);
  }

 private:
  static constexpr std::size_t max_bytes = 104;
};

}  // namespace detail
}  // namespace upcxx

#endif
