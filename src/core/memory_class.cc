#include "core/memory_class.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/assert.h"
#include "base/error.h"

namespace gex {

namespace {

std::array<const MemoryClassInfo*, net::max_memory_classes> registered_classes{};
std::size_t class_count = 0;

}  // namespace

void register_memory_class(const MemoryClassInfo& added) noexcept {
  GEX_ASSERT(added.memory_class != net::host_memory &&
             added.memory_class < net::max_memory_classes);
  GEX_ASSERT(std::ranges::find(memory_classes(), added.memory_class,
                               [](const MemoryClassInfo* one) { return one->memory_class; }) ==
             memory_classes().end());
  registered_classes[class_count++] = &added;
}

std::span<const MemoryClassInfo* const> memory_classes() noexcept {
  return {registered_classes.data(), class_count};
}

const MemoryClassInfo& class_info(net::MemoryClass which) noexcept {
  for (const MemoryClassInfo* one : memory_classes())
    if (one->memory_class == which) return *one;
  fatal("memory of the unknown class %u", static_cast<unsigned>(which));
}

std::string describe_unknown_memory(const void* address) {
  if (kind_at(address) != nullptr) return {};
  for (const MemoryClassInfo* one : memory_classes())
    if (std::string text = one->describe_unknown(address); !text.empty()) return text;
  return {};
}

void require_host_memory(const void* address, const char* what, const char* call) noexcept {
  if (const MemoryKind* const kind = kind_at(address))
    fatal(
        "%s: %s is memory of the kind %s, and this operation works on host memory only; copy it to "
        "host memory first",
        call, what, class_name(*kind));
}

void unpin_memory(const void* begin) {
  for (const MemoryClassInfo* one : memory_classes()) one->unpin(begin);
}

}  // namespace gex
