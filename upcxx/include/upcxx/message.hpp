/// @file
/// The messages of remote procedure calls: bytes that a persona of another rank runs a function
/// with. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_MESSAGE_HPP_
#define UPCXX_MESSAGE_HPP_

#include <upcxx/job.hpp>
#include <upcxx/tsan.hpp>

namespace upcxx {
namespace detail {

/// A message that has arrived. Its memory is the library's own, not the shared heap.
class UPCXXI_EXPORT Message final : public Task {
 public:
  /// The memory of a small message is kept for another one.
  void free() {
    if (!is_block_ || !this_thread.messages.keep(this)) free_slow();
  }

  /// Aligned to 16 bytes.
  const unsigned char* payload() const { return reinterpret_cast<const unsigned char*>(this + 1); }

 private:
  friend struct MessageAccess;
  explicit Message(Run function)
      : Task(function), is_small_(true), is_block_(true), kibibytes_(0) {}
  void free_slow();

  bool is_small_;
  // Small, and of memory that nothing is counted for.
  bool is_block_;
  std::uint32_t kibibytes_;
  // Only of a function whose address is not known yet.
  std::uint64_t function_;
};
static_assert(sizeof(Message) % 16 == 0, "the payload is aligned");

/// The initiator's record of a call, which is run when its answer has arrived.
class CallRecord : public Record, public Task {
 protected:
  /// An answer of up to `room_bytes` is copied to `room`, aligned to 16 bytes.
  CallRecord(Run function, unsigned char* room, std::size_t room_bytes)
      : Task(function),
        initiator_(&current_persona()),
        room_(room),
        room_bytes_(std::ptrdiff_t(room_bytes)) {}
  ~CallRecord() = default;

  const unsigned char* answer() const { return message_ == nullptr ? room_ : message_->payload(); }
  void free_answer() {
    if (message_ != nullptr) message_->free();
  }

 private:
  friend struct MessageAccess;
  persona* initiator_;
  unsigned char* room_;
  // Below 0 of a call that is noted.
  std::ptrdiff_t room_bytes_;
  // The answer, if it has more bytes.
  Message* message_ = nullptr;
};

/// Where a call is made: known in debug mode.
struct Place {
  const char* file = nullptr;
  unsigned line = 0;
};

/// The choice for a message that finds no room.
enum class Begin { always, if_there_is_room };

/// Sends a message of up to Outgoing::max_small_bytes: one that runs a function, or an answer.
UPCXXI_EXPORT void send_small(intrank_t target, std::uint64_t function, const void* payload,
                              std::size_t bytes);
UPCXXI_EXPORT void answer_small(intrank_t target, CallRecord* call, const void* payload,
                                std::size_t bytes);

/// A message that is being written. Between its beginning and its sending nothing else is sent.
class UPCXXI_EXPORT Outgoing {
 public:
  // Networks carry at least that in one message.
  static constexpr std::size_t max_small_bytes = 512;

  Outgoing(intrank_t target, std::size_t bytes, Begin begin = Begin::always)
      : target_(target), bytes_(bytes) {
    if (bytes > max_small_bytes || begin != Begin::always || job.has_long_calls || target < 0 ||
        target >= job.rank_n) {
      prepare(begin);
    }
  }
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;
  /// Returns true if a message could be begun now without waiting.
  static bool has_room(intrank_t target, std::size_t bytes);
  /// Nothing has been begun, for lack of room.
  bool is_refused() const { return way_ == Way::refused; }
  unsigned char* payload() { return way_ == Way::small ? small_ : payload_; }
  /// For the target's master persona, which runs the function of this token (code_token). `call`
  /// is what an answer is for, if there is one; `place` is where it was made.
  void send(std::uint64_t function, CallRecord* call = nullptr, Place place = {}) {
    if (call != nullptr) address_departs(call);
    if (way_ == Way::small) {
      send_small(target_, function, small_, bytes_);
    } else {
      send_call(function, call, place);
    }
  }
  /// To the initiator of a call.
  void send_answer(CallRecord* call) {
    if (way_ == Way::small) {
      answer_small(target_, call, small_, bytes_);
    } else {
      send_prepared(0, call);
    }
  }

 private:
  enum class Way { refused, small, small_noted, self, medium, fragments };
  void prepare(Begin begin);
  void send_call(std::uint64_t function, CallRecord* call, Place place);
  void send_prepared(std::uint64_t function, CallRecord* call);
  void send_fragments(std::uint64_t function, std::uint64_t call);

  intrank_t target_;
  Way way_ = Way::small;
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
