#include "job/packed_table.h"

#include <algorithm>
#include <new>

namespace gex::job {

namespace {

/// The form of one or more columns. A number in front of their bytes is 4 * COUNT + Form.
enum class Form : std::uint8_t {
  zero,      ///< COUNT columns of zeros: no bytes
  constant,  ///< COUNT columns, each with one byte in all rows: that byte of each
  raw,       ///< COUNT columns, with another byte in each row: those of a column, then of the next
  runs,  ///< one column with COUNT bytes in stretches of rows: each byte, and its number of rows
};
constexpr unsigned form_bits = 2;

/// Numbers in groups of seven bits, the lowest first; all but the last have the eighth bit set.
void put_number(std::vector<std::byte>& to, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) to.push_back(static_cast<std::byte>(number | 0x80));
  to.push_back(static_cast<std::byte>(number));
}

void put_form(std::vector<std::byte>& to, Form form, std::uint64_t count) {
  put_number(to, count << form_bits | static_cast<std::uint64_t>(form));
}

/// Reads what `put_number` has written. After an error all that follows fails too.
class PackedReader {
 public:
  explicit PackedReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::optional<std::uint64_t> number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 63 && !bytes_.empty(); shift += 7) {
      const auto group = static_cast<std::uint64_t>(bytes_.front());
      bytes_ = bytes_.subspan(1);
      number |= (group & 0x7f) << shift;
      if (group < 0x80) return number;
    }
    bytes_ = {};
    return std::nullopt;
  }
  std::optional<std::span<const std::byte>> bytes(std::uint64_t count) {
    if (count > bytes_.size()) return std::nullopt;
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  bool at_end() const noexcept { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

class Packer {
 public:
  Packer(std::span<const std::byte> table, std::size_t rows)
      : table_(table), rows_(rows), columns_(table.size() / rows), runs_(columns_, 1) {
    for (std::size_t row = 1; row < rows_; ++row)
      for (std::size_t column = 0; column < columns_; ++column)
        runs_[column] += at(row, column) != at(row - 1, column) ? 1 : 0;
  }

  std::vector<std::byte> pack() {
    put_number(packed_, columns_);
    for (std::size_t column = 0; column < columns_; ++column) {
      const Form form = form_of(column);
      if (form == Form::runs) continue;
      if (form != form_) flush(column);
      form_ = form;
    }
    flush(columns_);
    if (packed_.size() > table_.size()) put_as_it_is();
    return std::move(packed_);
  }

 private:
  std::byte at(std::size_t row, std::size_t column) const {
    return table_[row * columns_ + column];
  }

  bool is_zero(std::size_t column) const {
    return runs_[column] == 1 && at(0, column) == std::byte{};
  }

  /// Returns true if the column is one of so many zeros that they are worth a form of their own.
  bool is_in_zeros(std::size_t column) const {
    constexpr std::size_t worth = 4;
    std::size_t end = column;
    while (end < columns_ && end - column < worth && is_zero(end)) ++end;
    return end - column == worth || (end > column && column > begin_ && form_ == Form::zero);
  }

  /// Puts a column that has runs, and what came before it.
  Form form_of(std::size_t column) {
    if (runs_[column] == 1) return is_in_zeros(column) ? Form::zero : Form::constant;
    // A run takes two bytes at least.
    if (2 * runs_[column] + 1 >= rows_) return Form::raw;
    std::vector<std::byte> runs;
    put_form(runs, Form::runs, runs_[column]);
    for (std::size_t row = 0, end = 0; row < rows_; row = end) {
      while (end < rows_ && at(end, column) == at(row, column)) ++end;
      runs.push_back(at(row, column));
      put_number(runs, end - row);
    }
    if (runs.size() >= rows_) return Form::raw;
    flush(column);
    packed_.insert(packed_.end(), runs.begin(), runs.end());
    begin_ = column + 1;
    return Form::runs;
  }

  /// Puts the columns before `end`, which have one form.
  void flush(std::size_t end) {
    if (begin_ < end) {
      put_form(packed_, form_, end - begin_);
      for (std::size_t column = begin_; column < end && form_ != Form::zero; ++column)
        for (std::size_t row = 0; row < (form_ == Form::constant ? 1 : rows_); ++row)
          packed_.push_back(at(row, column));
    }
    begin_ = end;
  }

  void put_as_it_is() {
    packed_.clear();
    put_number(packed_, columns_);
    begin_ = 0;
    form_ = Form::raw;
    flush(columns_);
  }

  std::span<const std::byte> table_;
  std::size_t rows_;
  std::size_t columns_;
  std::vector<std::size_t> runs_;  ///< of each column
  std::vector<std::byte> packed_;
  Form form_ = Form::zero;  ///< the columns from `begin_`
  std::size_t begin_ = 0;
};

class Unpacker {
 public:
  Unpacker(std::span<std::byte> table, std::size_t rows)
      : table_(table), rows_(rows), columns_(table.size() / rows) {}

  /// Returns false if that is no packed form of a table of this size.
  bool unpack(PackedReader& packed) {
    while (column_ < columns_) {
      const auto number = packed.number();
      if (!number) return false;
      const std::uint64_t count = *number >> form_bits;
      const auto form = static_cast<Form>(*number & ((1U << form_bits) - 1));
      if (count == 0) return false;
      const bool taken =
          form == Form::runs ? take_runs(packed, count) : take_columns(packed, form, count);
      if (!taken) return false;
    }
    return packed.at_end();
  }

 private:
  bool take_columns(PackedReader& packed, Form form, std::uint64_t count) {
    if (count > columns_ - column_) return false;
    for (const std::size_t end = column_ + count; column_ < end; ++column_) {
      if (form == Form::zero) continue;  // as the table is
      const auto bytes = packed.bytes(form == Form::constant ? 1 : rows_);
      if (!bytes) return false;
      for (std::size_t row = 0; row < rows_; ++row)
        table_[row * columns_ + column_] = (*bytes)[form == Form::constant ? 0 : row];
    }
    return true;
  }

  bool take_runs(PackedReader& packed, std::uint64_t runs) {
    std::size_t row = 0;
    for (; runs > 0; --runs) {
      const auto byte = packed.bytes(1);
      const auto length = packed.number();
      if (!byte || !length || *length == 0 || *length > rows_ - row) return false;
      for (const std::size_t end = row + *length; row < end; ++row)
        table_[row * columns_ + column_] = byte->front();
    }
    ++column_;
    return row == rows_;
  }

  std::span<std::byte> table_;
  std::size_t rows_;
  std::size_t columns_;
  std::size_t column_ = 0;  ///< the next
};

}  // namespace

std::vector<std::byte> pack_table(std::span<const std::byte> table, std::size_t rows) {
  if (table.empty()) return {};
  return Packer(table, rows).pack();
}

std::optional<std::vector<std::byte>> unpack_table(std::span<const std::byte> packed,
                                                   std::size_t rows, std::uint64_t max_bytes) {
  std::vector<std::byte> table;
  if (packed.empty()) return table;
  PackedReader reader(packed);
  const auto columns = reader.number();
  if (!columns || *columns == 0 || *columns > max_bytes / rows) return std::nullopt;
  try {
    table.resize(*columns * rows);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
  if (!Unpacker(table, rows).unpack(reader)) return std::nullopt;
  return table;
}

}  // namespace gex::job
