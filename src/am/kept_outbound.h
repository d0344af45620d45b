#pragma once
// A message that is sent or delivered later than its call, with copies of all that it refers to.
// The payload of a long one is placed before it is sent: it needs no segment.

#include <cstddef>
#include <memory>

#include "am/copy.h"
#include "am/outbound.h"
#include "core/memory.h"

namespace gex::am {

struct KeptOutbound {
  explicit KeptOutbound(const Outbound& original)
      : message(original), payload(std::make_unique_for_overwrite<std::byte[]>(original.size)) {
    copy_chunks(args, original.args, original.what.arg_count() * sizeof *original.args);
    message.args = args;
    if (original.size != 0) copy_memory(payload.get(), original.payload, original.size);
    message.payload = payload.get();
    message.segment = nullptr;
  }
  // `message` refers to it.
  KeptOutbound(const KeptOutbound&) = delete;
  KeptOutbound& operator=(const KeptOutbound&) = delete;

  Outbound message;
  alignas(16) gex_AM_Arg_t args[max_args];
  std::unique_ptr<std::byte[]> payload;
};

}  // namespace gex::am
