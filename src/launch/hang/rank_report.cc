#include "launch/hang/rank_report.h"

#include <cstring>

namespace gex::launch {

namespace {

/// A report may come from another host: no list is longer than this.
constexpr std::uint32_t max_entries = 1U << 20;

class Writer {
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

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}
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
    if (size > max_entries || size > left_.size()) failed_ = true;
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

// The fields in their order, for both directions.

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, OpReport>
void visit(Archive& archive, T& op) {
  archive.field(op.kind);
  archive.field(op.call);
  archive.field(op.peer);
  archive.field(op.bytes);
  archive.field(op.team);
  archive.field(op.sequence);
  archive.field(op.implicit_parts);
  archive.field(op.age_s);
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, ThreadReport>
void visit(Archive& archive, T& thread) {
  archive.field(thread.number);
  archive.field(thread.kernel_thread);
  archive.field(thread.wait);
  archive.field(thread.annotation);
  archive.field(thread.condition_s);
  archive.field(thread.in_handler);
  archive.field(thread.polls);
  archive.field(thread.region_open);
  archive.field(thread.state);
  archive.field(thread.system_call);
  archive.field(thread.backtrace);
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, TeamReport>
void visit(Archive& archive, T& team) {
  archive.field(team.id);
  archive.field(team.size);
  archive.field(team.rank);
  archive.field(team.barriers);
  archive.field(team.collectives);
  archive.field(team.agreements);
  archive.field(team.named_barriers);
  archive.field(team.made_as);
  archive.field(team.made_by);
  archive.field(team.made_at);
  archive.field(team.parent);
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, RankReport>
void visit(Archive& archive, T& report) {
  archive.field(report.rank);
  archive.field(report.process);
  archive.field(report.host);
  archive.field(report.state);
  archive.field(report.cpu_s);
  archive.field(report.left);
  archive.field(report.shown);
  archive.field(report.last_call);
  archive.field(report.threads);
  archive.field(report.operations);
  archive.field(report.teams);
  archive.field(report.hidden);
}

}  // namespace

std::uint32_t TeamReport::calls(job::OpKind kind) const noexcept {
  switch (kind) {
    case job::OpKind::barrier:
      return barriers;
    case job::OpKind::collective:
      return collectives;
    case job::OpKind::agreement:
      return agreements;
    case job::OpKind::named_barrier:
      return named_barriers;
    default:
      return 0;
  }
}

std::vector<std::byte> encode(const std::vector<RankReport>& reports) {
  Writer writer;
  writer.field(reports);
  return writer.take();
}

std::optional<std::vector<RankReport>> decode(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  std::vector<RankReport> reports;
  reader.field(reports);
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  return reports;
}

}  // namespace gex::launch
