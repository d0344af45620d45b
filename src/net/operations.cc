#include "net/operations.h"

#include <cstdint>

namespace gex::net {

namespace {

Means native(const Conduit&) noexcept {
  return Means::native;
}
Means reference(const Conduit&) noexcept {
  return Means::reference;
}
Means by_buffer(const Conduit& conduit) noexcept {
  return conduit.buffer != nullptr ? Means::native : Means::reference;
}
Means by_put(const Conduit& conduit) noexcept {
  return conduit.put != nullptr ? Means::native : Means::reference;
}
Means by_pieces(const Conduit& conduit) noexcept {
  return conduit.put_pieces != nullptr ? Means::native : Means::reference;
}
Means by_flush(const Conduit& conduit) noexcept {
  return conduit.flush != nullptr ? Means::native : Means::reference;
}
Means by_atomic(const Conduit& conduit) noexcept {
  return conduit.atomic != nullptr ? Means::native : Means::reference;
}
Means by_device_memory(const Conduit& conduit) noexcept {
  constexpr std::uint64_t kinds =
      registers_cuda_memory | registers_hip_memory | registers_level_zero_memory;
  return (conduit.capabilities & kinds) != 0 ? Means::native : Means::absent;
}
Means by_registration(const Conduit& conduit) noexcept {
  return conduit.register_segment != nullptr ? Means::native : Means::absent;
}

constexpr Operation table[] = {
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
    {"device_memory", "device memory", "this version of libgex has host memory only", Means::absent,
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

std::span<const Operation> operations() noexcept {
  return table;
}

Means means_of(const Operation& operation, const Conduit* conduit) noexcept {
  return conduit == nullptr ? operation.shared_memory : operation.over(*conduit);
}

}  // namespace gex::net
