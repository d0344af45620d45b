#pragma once
// A kind of memory that moves nothing and makes nothing. Tests derive from it kinds that do what
// they need.

#include <cstddef>
#include <optional>
#include <string>

#include "core/memory.h"

namespace gex {

struct InertKind : MemoryKind {
  constexpr explicit InertKind(net::MemoryClass its_class, std::uint32_t its_device = 0)
      : MemoryKind(its_class, its_device) {}
  void copy(void*, const void*, std::size_t) const noexcept override {}
  void begin_copy(void*, const void*, std::size_t, CompletionTarget,
                  CompletionTarget) const noexcept override {}
  void* allocate(std::size_t, std::string&) const override { return nullptr; }
  void release(void*, std::size_t) const noexcept override {}
  std::optional<std::string> refuses(const void*, std::size_t) const override { return {}; }

 protected:
  ~InertKind() = default;
};

}  // namespace gex
