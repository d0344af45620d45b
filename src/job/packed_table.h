#pragma once
// A table of rows of equal size, such as the blocks that ranks give to an exchange, or the number
// of each rank's host, in the form in which it is sent: what many rows have in common is there
// once.
//
//   rows {tcp, 10.0.0.1, 4711}, {tcp, 10.0.0.1, 4712}, {tcp, 10.0.0.2, 4713}
//   packed: "tcp, 10.0.0." once, the last byte of the address for each host, and the ports
//
// It is packed by columns of a byte: the number of columns, and then the form of one or more
// columns at a time and their bytes (Form in packed_table.cc). It is never longer than the table by
// more than `max_growth`.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace gex::job {

/// Bytes by which the packed form of any table may exceed the table.
inline constexpr std::size_t max_growth = 32;

/// Requires a whole number of bytes in each of the rows, of which there is at least one.
std::vector<std::byte> pack_table(std::span<const std::byte> table, std::size_t rows);

/// The table of so many rows; empty if the bytes are not its packed form, or if it has more than
/// `max_bytes` bytes or there is no memory for it.
std::optional<std::vector<std::byte>> unpack_table(std::span<const std::byte> packed,
                                                   std::size_t rows, std::uint64_t max_bytes);

/// Tables whose rows are of a type that its bytes make; one row at least.
template <class Row>
std::vector<std::byte> pack_rows(const std::vector<Row>& rows) {
  return pack_table(std::as_bytes(std::span(rows)), rows.size());
}
template <class Row>
std::optional<std::vector<Row>> unpack_rows(std::span<const std::byte> packed, std::size_t rows) {
  const auto table = unpack_table(packed, rows, rows * sizeof(Row));
  if (!table || table->size() != rows * sizeof(Row)) return std::nullopt;
  std::vector<Row> found(rows);
  std::memcpy(found.data(), table->data(), table->size());
  return found;
}

}  // namespace gex::job
