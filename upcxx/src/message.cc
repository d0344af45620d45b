#include <upcxx/message.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <upcxx/serialization.hpp>

#include "process.h"

namespace upcxx::detail {

struct MessageAccess {
  static Message* make(intrank_t source, std::uint64_t function, std::size_t bytes);
  static void set_function(Message* message, std::uint64_t function) {
    message->function_ = function;
  }
};

namespace {

// Small messages use blocks again, of one size and a bounded number for each thread.
constexpr std::size_t small_bytes = 512;
constexpr std::size_t max_kept = 256;

struct Block {
  Block* next;
};
/// Blocks of a thread.
class Blocks {
 public:
  ~Blocks() {
    while (void* block = take()) std::free(block);
  }
  void* take() {
    Block* const block = first_;
    if (block == nullptr) return nullptr;
    first_ = block->next;
    --count_;
    return block;
  }
  bool keep(void* memory) {
    if (count_ == max_kept) return false;
    first_ = ::new (memory) Block{first_};
    ++count_;
    return true;
  }

 private:
  Block* first_ = nullptr;
  std::size_t count_ = 0;
};
thread_local Blocks blocks __attribute__((tls_model("initial-exec")));

void deliver(Message* message, persona* target) {
  PersonaAccess::inbox(target == nullptr ? process().master : *target).push(message);
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
persona* persona_of(std::uint64_t number) {
  return reinterpret_cast<persona*>(number);
}

intrank_t source_of(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  return intrank_t(info.gex_srcrank);
}

unsigned char* room_of(Message* message) {
  return reinterpret_cast<unsigned char*>(message + 1);
}

void whole_handler(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t function0,
                   gex_AM_Arg_t function1, gex_AM_Arg_t persona0, gex_AM_Arg_t persona1) {
  Message* const message =
      MessageAccess::make(source_of(token), joined(function0, function1), bytes);
  std::memcpy(room_of(message), payload, bytes);
  deliver(message, persona_of(joined(persona0, persona1)));
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
                      gex_AM_Arg_t function1, gex_AM_Arg_t persona0, gex_AM_Arg_t persona1,
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
      entry.message = MessageAccess::make(source, joined(function0, function1), entry.missing);
    }
    message = entry.message;
  }
  std::memcpy(room_of(message) + joined(offset0, offset1), payload, bytes);
  const std::lock_guard<std::mutex> lock(partial().mutex);
  const auto entry = partial().entries.find(key);
  if ((entry->second.missing -= bytes) > 0) return;
  partial().entries.erase(entry);
  deliver(message, persona_of(joined(persona0, persona1)));
}

// Indices that no other client of a process is disturbed by: handlers belong to this client.
constexpr gex_AM_Index_t whole_index = 200;
constexpr gex_AM_Index_t fragment_index = 201;
constexpr unsigned whole_arguments = 4;
constexpr unsigned fragment_arguments = 10;

std::size_t max_medium(intrank_t target) {
  return gex_AM_MaxRequestMedium(process().world, gex_Rank_t(target), nullptr,
                                 GEX_FLAG_AM_PREPARE_LEAST_ALLOC, whole_arguments);
}

}  // namespace

std::atomic<std::size_t> waiting_kibibytes{0};

Message* MessageAccess::make(intrank_t source, std::uint64_t function, std::size_t bytes) {
  void* memory = bytes <= small_bytes ? blocks.take() : nullptr;
  std::uint32_t kibibytes = 0;
  if (memory == nullptr) {
    const std::size_t size = sizeof(Message) + std::max(bytes, small_bytes);
    memory = std::malloc(size);
    if (memory == nullptr) fatal_error("no memory for a message that has arrived", "upcxx::rpc");
    kibibytes = std::uint32_t((size + 1023) / 1024);
    waiting_kibibytes.fetch_add(kibibytes, std::memory_order_relaxed);
  }
  auto* const message = ::new (memory) Message;
  message->source_ = source;
  message->kibibytes_ = kibibytes & INT32_MAX;
  message->is_small_ = bytes <= small_bytes;
  message->function_ = function;
  return message;
}

void Message::free() {
  const bool is_small = is_small_;
  if (kibibytes_ > 0) waiting_kibibytes.fetch_sub(kibibytes_, std::memory_order_relaxed);
  if (!is_small || !blocks.keep(this)) std::free(this);
}

void Message::run() {
  reinterpret_cast<Function>(code_address(function_))(this);
}

Outgoing::Outgoing(intrank_t target, std::size_t bytes, Begin begin)
    : target_(target), way_(Way::refused), bytes_(bytes) {
  if (target < 0 || target >= job.rank_n) {
    fatal_error("the target is no rank of the job", "upcxx::rpc");
  }
  if (begin == Begin::if_there_is_room) {
    if (has_backlog()) return;
  } else if (process().makes_room) {
    // Callbacks are not nested, and in them there is no way out.
    while (has_backlog() && this_thread.callbacks == 0) make_progress(progress_level::user);
  }
  if (target == job.rank_me) {
    way_ = Way::self;
    Message* const message = MessageAccess::make(target, 0, bytes);
    buffer_ = message;
    payload_ = room_of(message);
  } else if (bytes <= max_small_bytes && begin == Begin::always) {
    way_ = Way::small;
    payload_ = small_;
  } else if (bytes <= max_medium(target)) {
    const gex_AM_SrcDesc_t descriptor = gex_AM_PrepareRequestMedium(
        process().world, gex_Rank_t(target), nullptr, bytes, bytes, nullptr,
        begin == Begin::always ? 0 : GEX_FLAG_IMMEDIATE, whole_arguments);
    if (descriptor == GEX_AM_SRCDESC_NO_OP) return;
    way_ = Way::medium;
    buffer_ = descriptor;
    payload_ = static_cast<unsigned char*>(gex_AM_SrcDescAddr(descriptor));
  } else {
    if (begin == Begin::if_there_is_room) {
      // Later fragments wait for room, but for the first there is some.
      if (!has_room(target, bytes)) return;
    }
    way_ = Way::fragments;
    buffer_ = std::malloc(bytes);
    if (buffer_ == nullptr) fatal_error("no memory for the arguments", "upcxx::rpc");
    payload_ = static_cast<unsigned char*>(buffer_);
  }
}

future<> when_there_is_room(intrank_t target, std::size_t bytes) {
  /// Asks again in each user progress.
  class Room final : public Task {
   public:
    Room(intrank_t target, std::size_t bytes) : target_(target), bytes_(bytes) {}
    void run() override {
      if (!Outgoing::has_room(target_, bytes_)) {
        PersonaAccess::own(current_persona()).push(this);
        return;
      }
      found.fulfill_anonymous(1);
      delete this;
    }
    promise<> found;

   private:
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

void Outgoing::send(std::uint64_t function, persona* of_target) {
  const auto target = reinterpret_cast<std::uint64_t>(of_target);
  if (way_ == Way::self) {
    auto* const message = static_cast<Message*>(buffer_);
    MessageAccess::set_function(message, function);
    deliver(message, of_target);
    return;
  }
  if (way_ == Way::small) {
    gex_AM_RequestMedium4(process().world, gex_Rank_t(target_), whole_index, payload_, bytes_,
                          GEX_EVENT_NOW, 0, low(function), high(function), low(target),
                          high(target));
    return;
  }
  if (way_ == Way::medium) {
    gex_AM_CommitRequestMedium4(static_cast<gex_AM_SrcDesc_t>(buffer_), whole_index, bytes_,
                                low(function), high(function), low(target), high(target));
    return;
  }
  static std::atomic<std::uint64_t> numbers{0};
  const std::uint64_t number = ++numbers;
  const std::size_t piece = gex_AM_MaxRequestMedium(process().world, gex_Rank_t(target_),
                                                    GEX_EVENT_NOW, 0, fragment_arguments);
  for (std::size_t offset = 0; offset < bytes_; offset += piece) {
    gex_AM_RequestMedium10(process().world, gex_Rank_t(target_), fragment_index, payload_ + offset,
                           std::min(piece, bytes_ - offset), GEX_EVENT_NOW, 0, low(function),
                           high(function), low(target), high(target), low(number), high(number),
                           low(offset), high(offset), low(bytes_), high(bytes_));
  }
  std::free(buffer_);
}

void register_message_handlers(gex_EP_t endpoint) {
  gex_AM_Entry_t table[] = {
      {whole_index, reinterpret_cast<gex_AM_Fn_t>(whole_handler),
       GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, whole_arguments, nullptr, "rpc"},
      {fragment_index, reinterpret_cast<gex_AM_Fn_t>(fragment_handler),
       GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, fragment_arguments, nullptr, "rpc fragment"},
  };
  if (gex_EP_RegisterHandlers(endpoint, table, 2) != GASNET_OK) {
    fatal_error("gex_EP_RegisterHandlers failed", "upcxx::init");
  }
}

}  // namespace upcxx::detail
