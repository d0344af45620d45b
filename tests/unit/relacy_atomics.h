#pragma once
// The atomics policy of the lock-free algorithms (shm/ring.h, shm/posts.h, am/polled_lanes.h; the
// test of core/completion.h adds to it) under the interleaving explorer.

#include <cstdint>
#include <type_traits>

#include "interleavings.h"

namespace gex::interleavings {

struct RelacyAtomics {
  using Word = rl::atomic<std::uint32_t>;
  using Ready = rl::atomic<std::uint64_t>;
  using Flag = rl::atomic<bool>;
  template <class T>
  using Plain = rl::var<T>;
  template <class T>
  static T load_relaxed(const rl::atomic<T>& word) {
    return word(RL_INFO).load(rl::mo_relaxed);
  }
  template <class T>
  static T load_acquire(const rl::atomic<T>& word) {
    return word(RL_INFO).load(rl::mo_acquire);
  }
  template <class T>
  static void store_relaxed(rl::atomic<T>& word, std::type_identity_t<T> value) {
    word(RL_INFO).store(value, rl::mo_relaxed);
  }
  template <class T>
  static void store_release(rl::atomic<T>& word, std::type_identity_t<T> value) {
    word(RL_INFO).store(value, rl::mo_release);
  }
  static bool exchange_if_equal(Word& word, std::uint32_t& expected, std::uint32_t value) {
    return word(RL_INFO).compare_exchange_weak(expected, value, rl::mo_relaxed);
  }
  static void fetch_add_relaxed(Word& word, std::uint32_t value) {
    word(RL_INFO).fetch_add(value, rl::mo_relaxed);
  }
  static std::uint32_t exchange_relaxed(Word& word, std::uint32_t value) {
    return word(RL_INFO).exchange(value, rl::mo_relaxed);
  }
  static bool exchange_acquire(Flag& flag, bool value) {
    return flag(RL_INFO).exchange(value, rl::mo_acquire);
  }
  static bool exchange_release(Flag& flag, bool value) {
    return flag(RL_INFO).exchange(value, rl::mo_release);
  }
  static void fetch_or_release(Word& word, std::uint32_t bits) {
    word(RL_INFO).fetch_or(bits, rl::mo_release);
  }
  template <class T>
  static T read(const rl::var<T>& plain) {
    return plain(RL_INFO);
  }
  template <class T>
  static void write(rl::var<T>& plain, std::type_identity_t<T> value) {
    plain(RL_INFO) = value;
  }
};

/// Seeded bugs of order.
struct NoRelease : RelacyAtomics {
  template <class T>
  static void store_release(rl::atomic<T>& word, std::type_identity_t<T> value) {
    store_relaxed(word, value);
  }
};
struct NoAcquire : RelacyAtomics {
  template <class T>
  static T load_acquire(const rl::atomic<T>& word) {
    return load_relaxed(word);
  }
};

}  // namespace gex::interleavings
