#include "job/last_call.h"

#include <algorithm>
#include <cstring>

namespace gex::job {

namespace {

// The record: the call below `returned_bit`, the thread above it.
constexpr std::uint64_t returned_bit = std::uint64_t{1} << 31;
constexpr int thread_shift = 32;

constexpr std::uint64_t running(std::uint32_t call, std::uint32_t thread) {
  return (std::uint64_t{thread} << thread_shift) | call;
}

bool is_name_character(char c) {
  return c >= ' ' && c <= '~';
}

}  // namespace

void LastCall::set_name(std::uint32_t call, const char* name) noexcept {
  if (call >= max_calls) return;
  Name& kept = names_[call];
  // The first word is stored last, so that a name with a first word is complete. Concurrent threads
  // store the same words.
  if (kept[0].load(std::memory_order_acquire) == 0) {
    std::array<char, sizeof kept> text{};
    std::memcpy(text.data(), name, std::min(std::strlen(name), max_name));
    std::array<std::uint64_t, std::tuple_size_v<Name>> words;
    std::memcpy(words.data(), text.data(), sizeof words);
    for (std::size_t i = words.size(); i-- != 0;) {
      kept[i].store(words[i], std::memory_order_release);
    }
  }
}

void LastCall::begin(std::uint32_t call, const char* name, std::uint32_t thread) noexcept {
  if (call >= max_calls) return;
  set_name(call, name);
  // Release: a reader of the number must see the name.
  noted_.store(running(call, thread), std::memory_order_release);
}

void LastCall::finish(std::uint32_t call, std::uint32_t thread, std::uint32_t outer) noexcept {
  const std::uint64_t noted = running(call, thread);
  replace(noted, outer != none ? running(outer, thread) : noted | returned_bit);
}

void LastCall::forget(std::uint32_t call, std::uint32_t thread) noexcept {
  replace(running(call, thread), 0);
}

void LastCall::replace(std::uint64_t noted, std::uint64_t by) noexcept {
  // Relaxed on failure: nothing else is read then.
  noted_.compare_exchange_strong(noted, by, std::memory_order_release, std::memory_order_relaxed);
}

std::string LastCall::describe() const {
  const std::uint64_t noted = noted_.load(std::memory_order_acquire);
  const std::string name = name_of(static_cast<std::uint32_t>(noted & (returned_bit - 1)));
  if (name.empty()) return "";
  return ((noted & returned_bit) != 0 ? " after " : " while in ") + name;
}

std::string LastCall::name_of(std::uint32_t call) const {
  if (call == none || call >= max_calls) return "";
  std::array<char, sizeof(Name)> text;
  for (std::size_t i = 0; i < names_[call].size(); ++i) {
    const std::uint64_t word = names_[call][i].load(std::memory_order_relaxed);
    std::memcpy(text.data() + i * sizeof word, &word, sizeof word);
  }
  const auto end = std::find(text.begin(), text.end(), '\0');
  if (end == text.begin() || end == text.end() ||
      !std::all_of(text.begin(), end, is_name_character)) {
    return "";
  }
  return {text.begin(), end};
}

}  // namespace gex::job
