/// @file
/// The messages of remote procedure calls: bytes that a persona of another rank runs a function
/// with. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_MESSAGE_HPP_
#define UPCXX_MESSAGE_HPP_

#include <upcxx/persona.hpp>

namespace upcxx {
namespace detail {

/// A message that has arrived. Its memory is the library's own, not the shared heap.
class UPCXXI_EXPORT Message final : public Task {
 public:
  using Function = void (*)(Message*);

  /// Calls the function, which frees the message.
  void run() override;
  void free();

  /// Aligned to 16 bytes.
  const unsigned char* payload() const { return reinterpret_cast<const unsigned char*>(this + 1); }
  intrank_t source() const { return source_; }

 private:
  friend struct MessageAccess;
  intrank_t source_ = 0;
  // True if its memory is kept for another one; and what is counted for it, unless it was kept.
  std::uint32_t is_small_ : 1;
  std::uint32_t kibibytes_ : 31;
  std::uint64_t function_ = 0;
};
static_assert(sizeof(Message) % 16 == 0, "the payload is aligned");

/// What a message does that finds no room.
enum class Begin { always, if_there_is_room };

/// A message that is being written. Between its beginning and send() nothing else is sent.
class UPCXXI_EXPORT Outgoing {
 public:
  Outgoing(intrank_t target, std::size_t bytes, Begin begin = Begin::always);
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;
  /// Returns true if a message could be begun now without waiting.
  static bool has_room(intrank_t target, std::size_t bytes);
  /// Nothing has been begun, for lack of room.
  bool is_refused() const { return way_ == Way::refused; }
  unsigned char* payload() const { return payload_; }
  /// For the persona of the target; nullptr: its master persona.
  void send(std::uint64_t function, persona* of_target);

 private:
  enum class Way { refused, self, small, medium, fragments };
  // Networks carry at least that in one message.
  static constexpr std::size_t max_small_bytes = 512;
  intrank_t target_;
  Way way_;
  std::size_t bytes_;
  void* buffer_ = nullptr;
  unsigned char* payload_ = nullptr;
  // A small payload is copied once more: that takes less than to ask for a buffer of the network's.
  alignas(16) unsigned char small_[max_small_bytes];
};

/// Ready when a message of so many bytes can be begun without waiting.
UPCXXI_EXPORT future<> when_there_is_room(intrank_t target, std::size_t bytes);

}  // namespace detail
}  // namespace upcxx

#endif
