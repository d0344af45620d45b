#include <upcxx/message.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <upcxx/serialization.hpp>

#include "open_calls.h"
#include "process.h"

namespace upcxx::detail {

std::atomic<std::size_t> waiting_kibibytes{0};

struct MessageAccess {
  static Message* make(std::uint64_t function, std::size_t bytes);
  static Message* make_slow(std::uint64_t function, std::size_t bytes);
  static void take_answer(CallRecord* call, const void* payload, std::size_t bytes);
  static void take_answer(CallRecord* call, Message* message);
  /// The answer goes by a message of its own: that the call is open no longer has to be seen.
  static void note(CallRecord* call, intrank_t target, Place place) {
    call->room_bytes_ = -1;
    note_open_call(call, target, place);
  }
  /// Sets the function of a message that was made without one.
  static void set_function(Message* message, std::uint64_t function) {
    message->function_ = function;
  }

 private:
  static void find_and_run(Task* task);
};

inline Message* MessageAccess::make(std::uint64_t function, std::size_t bytes) {
  const auto address = reinterpret_cast<Task::Run>(recent_code_address(function));
  if (address == nullptr || bytes > Outgoing::max_small_bytes) return make_slow(function, bytes);
  void* const block = this_thread.messages.take();
  return block != nullptr ? ::new (block) Message(address) : make_slow(function, bytes);
}

Message* MessageAccess::make_slow(std::uint64_t function, std::size_t bytes) {
  const std::size_t size = sizeof(Message) + std::max(bytes, Outgoing::max_small_bytes);
  void* const memory = std::malloc(size);
  if (memory == nullptr) fatal_error("no memory for a message that has arrived", "upcxx::rpc");
  auto* const message = ::new (memory) Message(find_and_run);
  message->is_small_ = bytes <= Outgoing::max_small_bytes;
  message->is_block_ = false;
  message->kibibytes_ = std::uint32_t((size + 1023) / 1024);
  message->function_ = function;
  waiting_kibibytes.fetch_add(message->kibibytes_, std::memory_order_relaxed);
  return message;
}

namespace {

/// Tasks of a persona that this thread holds need no atomics.
void deliver(Task* task, persona& target) {
  if (target.active_with_caller()) {
    PersonaAccess::own(target).push(task);
  } else {
    PersonaAccess::inbox(target).push(task);
  }
}

gex_AM_Arg_t low(std::uint64_t number) {
  return gex_AM_Arg_t(std::uint32_t(number));
}
gex_AM_Arg_t high(std::uint64_t number) {
  return gex_AM_Arg_t(std::uint32_t(number >> 32));
}
std::uint64_t joined(gex_AM_Arg_t low, gex_AM_Arg_t high) {
  return std::uint64_t(std::uint32_t(high)) << 32 | std::uint32_t(low);
}
CallRecord* call_of(std::uint64_t number) {
  return reinterpret_cast<CallRecord*>(number);
}
std::uint64_t number_of(const CallRecord* call) {
  return reinterpret_cast<std::uint64_t>(call);
}

unsigned char* room_of(Message* message) {
  return reinterpret_cast<unsigned char*>(message + 1);
}

void copy_payload(Message* message, const void* payload, std::size_t bytes) {
  unsigned char* const room = room_of(message);
  if (bytes == sizeof(std::uint64_t)) {
    // The most frequent size, without a call.
    std::memcpy(room, payload, sizeof(std::uint64_t));
  } else {
    std::memcpy(room, payload, bytes);
  }
}

void take_call(std::uint64_t function, const void* payload, std::size_t bytes) {
  Message* const message = MessageAccess::make(function, bytes);
  copy_payload(message, payload, bytes);
  deliver(message, process().master);
}

void call_handler(gex_Token_t, void* payload, size_t bytes, gex_AM_Arg_t function0,
                  gex_AM_Arg_t function1) {
  take_call(joined(function0, function1), payload, bytes);
}
void answer_handler(gex_Token_t, void* payload, size_t bytes, gex_AM_Arg_t call0,
                    gex_AM_Arg_t call1) {
  MessageAccess::take_answer(call_of(joined(call0, call1)), payload, bytes);
}

intrank_t source_of(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  return intrank_t(info.gex_srcrank);
}

/// Messages of which fragments have arrived, by sender and number.
struct Partial {
  struct Entry {
    Message* message = nullptr;
    std::size_t missing = 0;
  };
  // Held for a look-up by a handler, above which no other handler runs.
  std::mutex mutex;
  std::map<std::pair<intrank_t, std::uint64_t>, Entry> entries;
};
Partial& partial() {
  static auto* const made = new Partial;
  return *made;
}

void fragment_handler(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t function0,
                      gex_AM_Arg_t function1, gex_AM_Arg_t call0, gex_AM_Arg_t call1,
                      gex_AM_Arg_t number0, gex_AM_Arg_t number1, gex_AM_Arg_t offset0,
                      gex_AM_Arg_t offset1, gex_AM_Arg_t total0, gex_AM_Arg_t total1) {
  const intrank_t source = source_of(token);
  const std::pair<intrank_t, std::uint64_t> key(source, joined(number0, number1));
  Message* message = nullptr;
  {
    const std::lock_guard<std::mutex> lock(partial().mutex);
    Partial::Entry& entry = partial().entries[key];
    if (entry.message == nullptr) {
      entry.missing = std::size_t(joined(total0, total1));
      entry.message = MessageAccess::make(joined(function0, function1), entry.missing);
    }
    message = entry.message;
  }
  std::memcpy(room_of(message) + joined(offset0, offset1), payload, bytes);
  {
    const std::lock_guard<std::mutex> lock(partial().mutex);
    const auto entry = partial().entries.find(key);
    if ((entry->second.missing -= bytes) > 0) return;
    partial().entries.erase(entry);
  }
  if (CallRecord* const call = call_of(joined(call0, call1))) {
    MessageAccess::take_answer(call, message);
  } else {
    deliver(message, process().master);
  }
}

// Indices that no other client of a process is disturbed by: handlers belong to this client.
constexpr gex_AM_Index_t call_index = 200;
constexpr gex_AM_Index_t answer_index = 201;
constexpr gex_AM_Index_t fragment_index = 202;
constexpr unsigned whole_arguments = 2;
constexpr unsigned fragment_arguments = 10;

std::size_t max_medium(intrank_t target) {
  return gex_AM_MaxRequestMedium(process().world, gex_Rank_t(target), nullptr,
                                 GEX_FLAG_AM_PREPARE_LEAST_ALLOC, whole_arguments);
}

}  // namespace

/// Runs a function whose file has to be looked for: not in a handler, as that takes locks.
void MessageAccess::find_and_run(Task* task) {
  const std::uint64_t function = static_cast<Message*>(task)->function_;
  reinterpret_cast<Task::Run>(code_address(function))(task);
}

void MessageAccess::take_answer(CallRecord* call, const void* payload, std::size_t bytes) {
  address_returns(call);
  if (std::ptrdiff_t(bytes) <= call->room_bytes_) {
    if (bytes > 0) std::memcpy(call->room_, payload, bytes);
    deliver(call, *call->initiator_);
  } else {
    Message* const message = make(0, bytes);
    copy_payload(message, payload, bytes);
    take_answer(call, message);
  }
}
void MessageAccess::take_answer(CallRecord* call, Message* message) {
  address_returns(call);
  if (call->room_bytes_ < 0) forget_open_call(call);
  call->message_ = message;
  deliver(call, *call->initiator_);
}

void Message::free_slow() {
  waiting_kibibytes.fetch_sub(kibibytes_, std::memory_order_relaxed);
  if (is_small_ && !is_block_ && this_thread.messages.keep(this)) return;
  std::free(this);
}

void Outgoing::prepare(Begin begin) {
  if (target_ < 0 || target_ >= job.rank_n) {
    fatal_error("the target is no rank of the job", "upcxx::rpc");
  }
  if (begin == Begin::if_there_is_room) {
    if (has_backlog()) {
      way_ = Way::refused;
      return;
    }
  } else if (process().makes_room) {
    // Callbacks are not nested, and in them there is no way out.
    while (has_backlog() && this_thread.callbacks == 0) make_progress(progress_level::user);
  }
  if (begin == Begin::always && bytes_ <= max_small_bytes) {
    if (process().is_watched) {
      way_ = Way::small_noted;
      payload_ = small_;
    }
    return;
  }
  if (target_ == job.rank_me) {
    way_ = Way::self;
    Message* const message = MessageAccess::make(0, bytes_);
    buffer_ = message;
    payload_ = room_of(message);
  } else if (bytes_ <= max_medium(target_)) {
    const gex_AM_SrcDesc_t descriptor = gex_AM_PrepareRequestMedium(
        process().world, gex_Rank_t(target_), nullptr, bytes_, bytes_, nullptr,
        begin == Begin::always ? 0 : GEX_FLAG_IMMEDIATE, whole_arguments);
    way_ = descriptor == GEX_AM_SRCDESC_NO_OP ? Way::refused : Way::medium;
    if (is_refused()) return;
    buffer_ = descriptor;
    payload_ = static_cast<unsigned char*>(gex_AM_SrcDescAddr(descriptor));
  } else if (begin == Begin::if_there_is_room && !has_room(target_, bytes_)) {
    // Later fragments wait for room, but for the first there is to be some.
    way_ = Way::refused;
  } else {
    way_ = Way::fragments;
    buffer_ = std::malloc(bytes_);
    if (buffer_ == nullptr) fatal_error("no memory for the arguments", "upcxx::rpc");
    payload_ = static_cast<unsigned char*>(buffer_);
  }
}

future<> when_there_is_room(intrank_t target, std::size_t bytes) {
  /// Asks again in each user progress.
  class Room final : public Task {
   public:
    Room(intrank_t target, std::size_t bytes) : Task(ask), target_(target), bytes_(bytes) {}
    promise<> found;

   private:
    static void ask(Task* task) {
      auto* const room = static_cast<Room*>(task);
      if (!Outgoing::has_room(room->target_, room->bytes_)) {
        PersonaAccess::own(current_persona()).push(room);
        return;
      }
      room->found.fulfill_anonymous(1);
      delete room;
    }

    intrank_t target_;
    std::size_t bytes_;
  };
  if (Outgoing::has_room(target, bytes)) return make_future();
  auto* const asked = new Room(target, bytes);
  future<> found = asked->found.get_future();
  PersonaAccess::own(current_persona()).push(asked);
  return found;
}

bool Outgoing::has_room(intrank_t target, std::size_t bytes) {
  if (has_backlog()) return false;
  if (target == job.rank_me) return true;
  const gex_AM_SrcDesc_t descriptor = gex_AM_PrepareRequestMedium(
      process().world, gex_Rank_t(target), nullptr, 0, std::min(bytes, max_medium(target)), nullptr,
      GEX_FLAG_IMMEDIATE, whole_arguments);
  if (descriptor == GEX_AM_SRCDESC_NO_OP) return false;
  gex_AM_CancelRequestMedium(descriptor, 0);
  return true;
}

void send_small(intrank_t target, std::uint64_t function, const void* payload, std::size_t bytes) {
  if (target == job.rank_me) {
    take_call(function, payload, bytes);
  } else {
    gex_AM_RequestMedium2(process().world, gex_Rank_t(target), call_index,
                          const_cast<void*>(payload), bytes, GEX_EVENT_NOW, 0, low(function),
                          high(function));
  }
}
void answer_small(intrank_t target, CallRecord* call, const void* payload, std::size_t bytes) {
  if (target == job.rank_me) {
    MessageAccess::take_answer(call, payload, bytes);
  } else {
    gex_AM_RequestMedium2(process().world, gex_Rank_t(target), answer_index,
                          const_cast<void*>(payload), bytes, GEX_EVENT_NOW, 0, low(number_of(call)),
                          high(number_of(call)));
  }
}

void Outgoing::send_call(std::uint64_t function, CallRecord* call, Place place) {
  if (call != nullptr && process().is_watched) MessageAccess::note(call, target_, place);
  if (way_ == Way::small_noted) {
    send_small(target_, function, small_, bytes_);
  } else {
    send_prepared(function, nullptr);
  }
}

void Outgoing::send_prepared(std::uint64_t function, CallRecord* call) {
  if (way_ == Way::small_noted) {
    answer_small(target_, call, small_, bytes_);
    return;
  }
  if (way_ == Way::self) {
    auto* const message = static_cast<Message*>(buffer_);
    if (call != nullptr) {
      MessageAccess::take_answer(call, message);
    } else {
      MessageAccess::set_function(message, function);
      deliver(message, process().master);
    }
  } else if (way_ == Way::medium) {
    const std::uint64_t word = call != nullptr ? number_of(call) : function;
    gex_AM_CommitRequestMedium2(static_cast<gex_AM_SrcDesc_t>(buffer_),
                                call != nullptr ? answer_index : call_index, bytes_, low(word),
                                high(word));
  } else {
    send_fragments(function, number_of(call));
  }
}

void Outgoing::send_fragments(std::uint64_t function, std::uint64_t call) {
  static std::atomic<std::uint64_t> numbers{0};
  const std::uint64_t number = ++numbers;
  const std::size_t piece = gex_AM_MaxRequestMedium(process().world, gex_Rank_t(target_),
                                                    GEX_EVENT_NOW, 0, fragment_arguments);
  for (std::size_t offset = 0; offset < bytes_; offset += piece) {
    gex_AM_RequestMedium10(process().world, gex_Rank_t(target_), fragment_index, payload_ + offset,
                           std::min(piece, bytes_ - offset), GEX_EVENT_NOW, 0, low(function),
                           high(function), low(call), high(call), low(number), high(number),
                           low(offset), high(offset), low(bytes_), high(bytes_));
  }
  std::free(buffer_);
}

void register_message_handlers(gex_EP_t endpoint) {
  gex_AM_Entry_t table[] = {
      {call_index, reinterpret_cast<gex_AM_Fn_t>(call_handler),
       GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, whole_arguments, nullptr, "rpc"},
      {answer_index, reinterpret_cast<gex_AM_Fn_t>(answer_handler),
       GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, whole_arguments, nullptr, "rpc answer"},
      {fragment_index, reinterpret_cast<gex_AM_Fn_t>(fragment_handler),
       GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, fragment_arguments, nullptr, "rpc fragment"},
  };
  if (gex_EP_RegisterHandlers(endpoint, table, 3) != GASNET_OK) {
    fatal_error("gex_EP_RegisterHandlers failed", "upcxx::init");
  }
}

}  // namespace upcxx::detail
