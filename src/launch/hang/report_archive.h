#pragma once
// Reports as bytes, which travel between hosts. A type's fields are listed once for both
// directions, by a function `visit(archive, value)` beside the type, which calls `archive.field`
// for each.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "job/rank_status.h"

namespace gex::launch {

/// A report may come from another host: no list is longer than this.
inline constexpr std::uint32_t max_report_entries = 1U << 20;

class ReportWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void field(const T& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out_.insert(out_.end(), bytes, bytes + sizeof value);
  }
  void field(const std::string& text) {
    field(static_cast<std::uint32_t>(text.size()));
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    out_.insert(out_.end(), bytes, bytes + text.size());
  }
  template <class T>
  void field(const std::optional<T>& value) {
    field(value.has_value());
    if (value) entry(*value);
  }
  template <class T>
  void field(const std::vector<T>& list) {
    field(static_cast<std::uint32_t>(list.size()));
    for (const T& one : list) entry(one);
  }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  template <class T>
  void entry(const T& one) {
    if constexpr (std::is_arithmetic_v<T>)
      field(one);
    else
      visit(*this, one);
  }
  std::vector<std::byte> out_;
};

class ReportReader {
 public:
  explicit ReportReader(std::span<const std::byte> bytes) : left_(bytes) {}
  bool failed() const noexcept { return failed_; }
  bool at_end() const noexcept { return left_.empty(); }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void field(T& value) {
    if (!take(&value, sizeof value)) value = T{};
  }
  void field(bool& value) {
    std::uint8_t byte = 0;
    field(byte);
    value = byte != 0;
  }
  void field(job::OpKind& kind) {
    std::uint8_t byte = 0;
    field(byte);
    kind = byte < static_cast<std::uint8_t>(job::OpKind::count) ? static_cast<job::OpKind>(byte)
                                                                : job::OpKind::none;
  }
  void field(std::string& text) {
    const std::uint32_t size = length();
    text.assign(size, '\0');
    take(text.data(), size);
  }
  template <class T>
  void field(std::optional<T>& value) {
    bool there = false;
    field(there);
    if (!there || failed_) return;
    entry(value.emplace());
  }
  template <class T>
  void field(std::vector<T>& list) {
    const std::uint32_t size = length();
    for (std::uint32_t i = 0; i < size && !failed_; ++i) entry(list.emplace_back());
  }

 private:
  template <class T>
  void entry(T& one) {
    if constexpr (std::is_arithmetic_v<T>)
      field(one);
    else
      visit(*this, one);
  }
  /// Every entry takes a byte at least.
  std::uint32_t length() {
    std::uint32_t size = 0;
    field(size);
    if (size > max_report_entries || size > left_.size()) failed_ = true;
    return failed_ ? 0 : size;
  }
  bool take(void* to, std::size_t size) {
    if (failed_ || size > left_.size()) {
      failed_ = true;
      return false;
    }
    if (size != 0) std::memcpy(to, left_.data(), size);
    left_ = left_.subspan(size);
    return true;
  }

  std::span<const std::byte> left_;
  bool failed_ = false;
};

}  // namespace gex::launch
