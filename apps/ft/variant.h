#pragma once
// The three ways in which section 5.3 of the paper sends a transpose, and all in which they differ:
// when a put is started, how much it carries, and in which order the data lies where it lands.
//
// Messages of each rank and transpose, its own piece included, for p planes of r rows on T ranks
// (of Table 1's cube of n^3, where p = n/T and r = n):
//   exchange  T            = THREADS
//   slabs     T * p        = THREADS * n/THREADS
//   pencils   r * p        = n^2/THREADS

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "arrival.h"
#include "communication.h"
#include "grid.h"

namespace ft {

/// Where row number `row` of plane number `plane` lies in the landing area after a transpose: at
/// plane * plane_stride + row * row_stride, in elements.
struct Layout {
  std::size_t plane_stride;
  std::size_t row_stride;
};

/// Part of a plane that is ready to go: some consecutive rows that all belong to rank `to`.
struct Piece {
  std::size_t plane;  ///< A plane of this rank, before the transpose.
  std::size_t to;
  std::size_t row;  ///< The first, counted from the first that belongs to `to`.
  const Complex* data;
};

class Variant {
 public:
  virtual ~Variant() = default;
  virtual const char* name() const = 0;

  /// Elements of memory that it needs to pack a transpose of `elements`.
  virtual std::size_t packing_elements(std::size_t /*elements*/) const { return 0; }

  virtual std::size_t rows_per_piece(const Transpose& transpose) const = 0;
  virtual std::size_t messages(const Transpose& transpose) const = 0;
  virtual Layout landing(const Transpose& transpose) const = 0;

  /// Where a piece of rank `from` lies in the landing area.
  virtual std::size_t place(const Transpose& transpose, std::size_t from, std::size_t plane,
                            std::size_t row) const = 0;

  /// The pieces that the other ranks send to this one, of each of them in the order of sending.
  virtual std::vector<Arrival> arrivals(const Transpose& transpose) const;

  /// Called for every piece as soon as its rows are transformed. The data stays as it is until the
  /// puts of its plane are complete.
  virtual void send(const Transpose& transpose, const Piece& piece, Complex* packing,
                    Communication& communication) const = 0;

  /// Called when all pieces are transformed.
  virtual void finish(const Transpose& /*transpose*/, Complex* /*packing*/,
                      Communication& /*communication*/) const {}
};

/// One all-to-all of packed blocks after all computation: a block is what one rank gets.
class Exchange : public Variant {
 public:
  const char* name() const override { return "exchange"; }
  std::size_t packing_elements(std::size_t elements) const override { return elements; }
  std::size_t rows_per_piece(const Transpose& transpose) const override {
    return transpose.planes_after();
  }
  std::size_t messages(const Transpose& transpose) const override { return transpose.ranks; }
  Layout landing(const Transpose& transpose) const override;
  std::size_t place(const Transpose& transpose, std::size_t from, std::size_t plane,
                    std::size_t row) const override;
  std::vector<Arrival> arrivals(const Transpose& transpose) const override;
  void send(const Transpose& transpose, const Piece& piece, Complex* packing,
            Communication& communication) const override;
  void finish(const Transpose& transpose, Complex* packing,
              Communication& communication) const override;

 protected:
  /// Elements of a block.
  static std::size_t block(const Transpose& transpose);
};

/// The names of all, in the paper's order; behind them those that the library alone has.
std::vector<std::string> variant_names();

/// The variant of that name, or none.
std::unique_ptr<Variant> make_variant(const std::string& name);

/// Names of the variants that gex/ or mpi/ adds to them.
std::vector<std::string> library_variant_names();
std::unique_ptr<Variant> make_library_variant(const std::string& name);

}  // namespace ft
