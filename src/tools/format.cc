// Values of the GASNet-EX interface as text, for gasnet_tools.h.

#include <gex/tools_format.h>

#include <gasnet_fwd.h>
#include <gex/am.h>
#include <gex/objects.h>

#include <cinttypes>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

namespace {

struct Name {
  std::uint32_t bit;
  const char* text;
};

#define GEX_NAME(constant) \
  { constant, #constant }
constexpr Name datatypes[] = {
    GEX_NAME(GEX_DT_I32), GEX_NAME(GEX_DT_U32), GEX_NAME(GEX_DT_I64),  GEX_NAME(GEX_DT_U64),
    GEX_NAME(GEX_DT_FLT), GEX_NAME(GEX_DT_DBL), GEX_NAME(GEX_DT_USER),
};
constexpr Name operations[] = {
    GEX_NAME(GEX_OP_AND),  GEX_NAME(GEX_OP_OR),    GEX_NAME(GEX_OP_XOR),     GEX_NAME(GEX_OP_ADD),
    GEX_NAME(GEX_OP_SUB),  GEX_NAME(GEX_OP_MULT),  GEX_NAME(GEX_OP_MIN),     GEX_NAME(GEX_OP_MAX),
    GEX_NAME(GEX_OP_INC),  GEX_NAME(GEX_OP_DEC),   GEX_NAME(GEX_OP_SET),     GEX_NAME(GEX_OP_CAS),
    GEX_NAME(GEX_OP_FAND), GEX_NAME(GEX_OP_FOR),   GEX_NAME(GEX_OP_FXOR),    GEX_NAME(GEX_OP_FADD),
    GEX_NAME(GEX_OP_FSUB), GEX_NAME(GEX_OP_FMULT), GEX_NAME(GEX_OP_FMIN),    GEX_NAME(GEX_OP_FMAX),
    GEX_NAME(GEX_OP_FINC), GEX_NAME(GEX_OP_FDEC),  GEX_NAME(GEX_OP_SWAP),    GEX_NAME(GEX_OP_FCAS),
    GEX_NAME(GEX_OP_GET),  GEX_NAME(GEX_OP_USER),  GEX_NAME(GEX_OP_USER_NC),
};
constexpr Name token_items[] = {
    GEX_NAME(GEX_TI_SRCRANK), GEX_NAME(GEX_TI_EP),      GEX_NAME(GEX_TI_ENTRY),
    GEX_NAME(GEX_TI_IS_REQ),  GEX_NAME(GEX_TI_IS_LONG),
};
#undef GEX_NAME

/// Builds a text in a buffer of the caller's, going on to count when it is full.
class Text {
 public:
  Text(char* buffer, std::size_t size) noexcept : buffer_(buffer), size_(size) {
    if (size_ > 0) buffer_[0] = '\0';
  }

  [[gnu::format(printf, 2, 3)]] void append(const char* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    const bool room = length_ < size_;
    const int wanted = std::vsnprintf(room ? buffer_ + length_ : nullptr,
                                      room ? size_ - length_ : 0, format, arguments);
    va_end(arguments);
    if (wanted > 0) length_ += static_cast<std::size_t>(wanted);
  }

  /// Room for all of it, the final zero included.
  std::size_t needed() const noexcept { return length_ + 1; }

 private:
  char* buffer_;
  std::size_t size_;
  std::size_t length_ = 0;
};

/// The caller's buffer, which has room for all of it, or null.
std::size_t format_bits(char* buf, std::uint32_t bits, std::span<const Name> names) noexcept {
  Text text(buf, buf != nullptr ? SIZE_MAX : 0);
  const char* separator = "";
  for (const Name& name : names) {
    if ((bits & name.bit) == 0) continue;
    text.append("%s%s", separator, name.text);
    separator = "|";
    bits &= ~name.bit;
  }
  if (bits != 0) {
    text.append("%s0x%" PRIx32, separator, bits);
  } else if (*separator == '\0') {
    text.append("0");
  }
  return text.needed();
}

template <class T>
void append_list(Text& text, const char* format, const T* values, std::size_t count) noexcept {
  text.append("(");
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text.append(",");
      // The format is one of ours, for T.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    text.append(format, values[i]);
#pragma GCC diagnostic pop
  }
  text.append(")");
}

}  // namespace

std::size_t gasnett_format_dt(char* buf, std::uint32_t types) {
  return format_bits(buf, types, datatypes);
}

std::size_t gasnett_format_op(char* buf, std::uint32_t ops) {
  return format_bits(buf, ops, operations);
}

std::size_t gasnett_format_ti(char* buf, std::uint32_t items) {
  return format_bits(buf, items, token_items);
}

char* gasnett_format_memveclist(char* buf, std::size_t count, const void* memvecs) {
  const std::span list(static_cast<const gex_Memvec_t*>(memvecs), count);
  std::size_t bytes = 0;
  for (const gex_Memvec_t& memvec : list) bytes += memvec.gex_len;
  Text text(buf, gasnett_format_memveclist_bufsz(count));
  text.append("%zu regions, %zu bytes:", count, bytes);
  for (const gex_Memvec_t& memvec : list) {
    text.append(" [%p,%zu]", memvec.gex_addr, memvec.gex_len);
  }
  return buf;
}

char* gasnett_format_addrlist(char* buf, std::size_t count, void* const* addresses,
                              std::size_t length) {
  Text text(buf, gasnett_format_addrlist_bufsz(count));
  text.append("%zu regions of %zu bytes:", count, length);
  for (void* address : std::span(addresses, count)) text.append(" %p", address);
  return buf;
}

char* gasnett_format_putsgets(char* buf, void*, const void* team, std::uint32_t rank,
                              const void* destination, const std::ptrdiff_t* destination_strides,
                              const void* source, const std::ptrdiff_t* source_strides,
                              std::size_t element_size, const std::size_t* counts,
                              std::size_t stride_levels) {
  Text text(buf, gasnett_format_putsgets_bufsz(stride_levels));
  text.append("team %p rank %" PRIu32 " destination %p strides ", team, rank, destination);
  append_list(text, "%td", destination_strides, stride_levels);
  text.append(" source %p strides ", source);
  append_list(text, "%td", source_strides, stride_levels);
  text.append(" element %zu bytes, counts ", element_size);
  append_list(text, "%zu", counts, stride_levels);
  return buf;
}
