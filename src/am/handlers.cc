#include "am/handlers.h"

#include <vector>

#include "am/internal.h"
#include "am/thread_messages.h"
#include "base/error.h"
#include "core/objects.h"
#include "core/process.h"
#include "observe/trace.h"

namespace gex::am {

namespace {

InternalHandler internal_handlers[GEX_AM_INDEX_BASE];
InternalShape internal_shapes[GEX_AM_INDEX_BASE];
bool calls_clients[GEX_AM_INDEX_BASE];
const char* internal_names[GEX_AM_INDEX_BASE];
constinit std::uint8_t next_internal = credits_handler + 1;

constexpr gex_Flags_t category_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDLONG;

const char* name_of(Category category) noexcept {
  switch (category) {
    case Category::short_message:
      return "short";
    case Category::medium:
      return "medium";
    case Category::long_message:
      return "long";
  }
  return "?";
}

/// Null if the entry can be registered, else what is wrong with it.
const char* flaw_of(const gex_AM_Entry_t& entry) noexcept {
  const gex_Flags_t category = entry.gex_flags & category_flags;
  if (entry.gex_index != 0 && entry.gex_index < GEX_AM_INDEX_BASE)
    return "the index is below GEX_AM_INDEX_BASE";
  if (entry.gex_fnptr == nullptr) return "the function is null";
  if (entry.gex_nargs > max_args) return "more arguments than gex_AM_MaxArgs()";
  if (category != GEX_FLAG_AM_SHORT && category != GEX_FLAG_AM_MEDIUM &&
      category != GEX_FLAG_AM_LONG && category != GEX_FLAG_AM_MEDLONG)
    return "the flags name no category (GEX_FLAG_AM_SHORT, MEDIUM, LONG or MEDLONG)";
  if ((entry.gex_flags & GEX_FLAG_AM_REQREP) == 0)
    return "the flags name no direction (GEX_FLAG_AM_REQUEST, REPLY or REQREP)";
  return nullptr;
}

int refuse(const char* call, int error, const char* why, std::size_t position,
           const gex_AM_Entry_t& entry) noexcept {
  const char* name = entry.gex_name != nullptr ? entry.gex_name : "unnamed";
  if (checked())
    fatal("%s: entry %zu (%s, index %u): %s", call, position, name, unsigned{entry.gex_index}, why);
  if (verbose_errors.load(std::memory_order_relaxed))
    warn("%s: entry %zu (%s, index %u): %s", call, position, name, unsigned{entry.gex_index}, why);
  return error;
}

}  // namespace

void register_internal(Internal& message, InternalHandler handler, InternalShape takes) noexcept {
  if (next_internal == GEX_AM_INDEX_BASE) fatal("too many messages of the library's own");
  const std::uint8_t index = next_internal++;
  message.handler_ = index;
  internal_handlers[index] = handler;
  internal_shapes[index] = takes;
  calls_clients[index] = message.effect_ == Internal::runs_client_code;
  internal_names[index] = message.name_;
  if (traced()) trace::name_handler(index, message.name_);
}

const char* internal_name(std::uint8_t handler) noexcept {
  return handler < GEX_AM_INDEX_BASE ? internal_names[handler] : nullptr;
}

bool runs_client_code(std::uint8_t handler) noexcept {
  return handler >= GEX_AM_INDEX_BASE || calls_clients[handler];
}

bool fits_internal(const MessageHeader& header) noexcept {
  const unsigned index = header.handler();
  if (index >= GEX_AM_INDEX_BASE || internal_handlers[index] == nullptr) return false;
  const InternalShape& takes = internal_shapes[index];
  return header.is_reply() == takes.is_reply && header.arg_count() == takes.arg_count &&
         header.category() != Category::long_message;
}

InternalHandler internal_handler(std::uint8_t index) noexcept {
  if (index >= GEX_AM_INDEX_BASE || internal_handlers[index] == nullptr)
    fatal("a message names the internal handler %u, which does not exist", unsigned{index});
  return internal_handlers[index];
}

int register_handlers(gex_EP_t endpoint, gex_AM_Entry_t* table, std::size_t count,
                      const char* call) noexcept {
  // All or nothing: the whole table is checked on a copy of what is taken.
  bool taken[256] = {};
  for (unsigned i = 0; i < 256; ++i) taken[i] = endpoint->handlers[i].gex_fnptr != nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    if (const char* flaw = flaw_of(table[i]))
      return refuse(call, GASNET_ERR_BAD_ARG, flaw, i, table[i]);
    if (table[i].gex_index == 0) continue;
    if (taken[table[i].gex_index])
      return refuse(call, GASNET_ERR_BAD_ARG, "the index is already taken", i, table[i]);
    taken[table[i].gex_index] = true;
  }
  std::vector<gex_AM_Index_t> indices(count);
  unsigned next = 255;
  for (std::size_t i = 0; i < count; ++i) {
    indices[i] = table[i].gex_index;
    if (indices[i] != 0) continue;
    while (next >= GEX_AM_INDEX_BASE && taken[next]) --next;
    if (next < GEX_AM_INDEX_BASE)
      return refuse(call, GASNET_ERR_RESOURCE, "more handlers than indices (128 to 255)", i,
                    table[i]);
    taken[next] = true;
    indices[i] = static_cast<gex_AM_Index_t>(next);
  }
  for (std::size_t i = 0; i < count; ++i) {
    table[i].gex_index = indices[i];
    endpoint->handlers[indices[i]] = table[i];
    if (traced() && table[i].gex_name != nullptr)
      trace::name_handler(trace::handler_number(indices[i], endpoint->address()),
                          table[i].gex_name);
  }
  return GASNET_OK;
}

void refuse_delivery(const gex_AM_Entry_t& entry, const MessageHeader& header) noexcept {
  const char* direction = header.is_reply() ? "reply" : "request";
  const char* category = name_of(header.category());
  if (entry.gex_fnptr == nullptr)
    fatal("rank %u sent a %s %s to handler index %u, which is not registered", header.source,
          category, direction, unsigned{header.handler()});
  const char* name = entry.gex_name != nullptr ? entry.gex_name : "unnamed";
  if (!takes_kind(entry, header))
    fatal("rank %u sent a %s %s to handler %s (index %u), which is not registered for that",
          header.source, category, direction, name, unsigned{header.handler()});
  fatal("rank %u sent %u argument(s) to handler %s (index %u), which takes %u", header.source,
        header.arg_count(), name, unsigned{header.handler()}, entry.gex_nargs);
}

void refuse_internal(const MessageHeader& header) noexcept {
  fatal(
      "a message from rank %u over the network is malformed: not what the library's own handler "
      "takes",
      header.source);
}

void refuse_endpoint(const MessageHeader& header) noexcept {
  fatal("a message from rank %u names an endpoint that does not exist here (client %u, index %u)",
        header.source, header.endpoints().client(), header.endpoints().target());
}

// No handler starts with a lock held: nothing polls then.
void check_return(const _gex_Token& token, const ThreadRecord& thread) noexcept {
  const unsigned index = token.header.handler();
  if (has_prepared_reply(thread) && MessagesSlot::of(thread)->reply.token == &token)
    fatal("handler %u returned with a prepared reply neither committed nor cancelled", index);
  if (thread.held_locks != 0) fatal("handler %u returned holding a handler-safe lock", index);
}

}  // namespace gex::am
