#include "net/operations.h"

#include <gasnetex.h>

#include <algorithm>
#include <cstdint>

namespace gex::net {

namespace {

Means native(const Conduit&, const Limits*) noexcept {
  return Means::native;
}
Means reference(const Conduit&, const Limits*) noexcept {
  return Means::reference;
}
Means by_buffer(const Conduit& conduit, const Limits*) noexcept {
  return conduit.buffer != nullptr ? Means::native : Means::reference;
}
bool has_put(const Conduit& conduit, const Limits* limits) noexcept {
  return conduit.put != nullptr && (limits == nullptr || limits->without_put == 0);
}
Means by_put(const Conduit& conduit, const Limits* limits) noexcept {
  return has_put(conduit, limits) ? Means::native : Means::reference;
}
Means by_pieces(const Conduit& conduit, const Limits* limits) noexcept {
  const bool has_pieces = conduit.put_pieces != nullptr && has_put(conduit, limits) &&
                          (limits == nullptr || limits->max_pieces != 0);
  return has_pieces ? Means::native : Means::reference;
}
Means by_flush(const Conduit& conduit, const Limits* limits) noexcept {
  return conduit.flush != nullptr && has_put(conduit, limits) ? Means::native : Means::reference;
}
Means by_atomic(const Conduit& conduit, const Limits* limits) noexcept {
  if (conduit.atomic == nullptr) return Means::reference;
  if (limits == nullptr) return Means::native;
  for (const gex_DT_t type :
       {GEX_DT_I32, GEX_DT_U32, GEX_DT_I64, GEX_DT_U64, GEX_DT_FLT, GEX_DT_DBL})
    if (conduit.atomic_operations(static_cast<std::uint32_t>(type)) != 0) return Means::native;
  return Means::reference;
}
Means by_device_memory(const Conduit& conduit, const Limits*) noexcept {
  return (conduit.capabilities & all_device_registrations) != 0 ? Means::native : Means::absent;
}
Means by_registration(const Conduit& conduit, const Limits* limits) noexcept {
  const bool registers =
      conduit.register_segment != nullptr && (limits == nullptr || limits->without_put == 0);
  return registers ? Means::native : Means::absent;
}

constexpr NetworkOperation table[] = {
    {"active_messages", "active messages", "every conduit carries them", Means::native, native},
    {"payload_in_place", "payload built in place", "built beside the network, then copied",
     Means::native, by_buffer},
    {"put", "put", "messages that carry the bytes, and an acknowledgement", Means::native, by_put},
    {"get", "get", "a request message, and replies that carry the bytes", Means::native, by_put},
    {"pieces", "put, get of pieces", "a put or get of each, or messages that pack them",
     Means::native, by_pieces},
    {"flush", "flush of puts", "each put is complete by itself", Means::absent, by_flush},
    {"atomics", "atomics", "messages to the owner, whose processor performs them", Means::native,
     by_atomic},
    {"registered_memory", "registered memory", "messages are copied; neither needs registration",
     Means::absent, by_registration},
    {"device_memory", "device memory",
     "the driver copies where it reaches both ends, else messages", Means::absent,
     by_device_memory},
    {"barrier", "barrier", "messages, dissemination", Means::native, reference},
};

}  // namespace

const char* means_name(Means means) noexcept {
  switch (means) {
    case Means::native:
      return "native";
    case Means::reference:
      return "reference";
    case Means::absent:
      return "absent";
  }
  return "";
}

std::span<const NetworkOperation> operations() noexcept {
  return table;
}

Means means_of(const NetworkOperation& operation, const Conduit* conduit,
               const Limits* limits) noexcept {
  return conduit == nullptr ? operation.shared_memory : operation.over(*conduit, limits);
}

std::string list_operations(Means means, const Conduit* conduit, const Limits* limits) {
  std::string list;
  for (const NetworkOperation& operation : operations()) {
    if (means_of(operation, conduit, limits) != means) continue;
    // The names for people have commas.
    std::string name = operation.key;
    std::replace(name.begin(), name.end(), '_', ' ');
    list.append(list.empty() ? "" : ", ").append(name);
  }
  return list;
}

}  // namespace gex::net
