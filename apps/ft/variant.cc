#include "variant.h"

#include <cstring>

namespace ft {
namespace {

/// Slabs arrive one below the other, so that consecutive rows of a plane lie a whole slab apart.
Layout landing_of_slabs(const Transpose& t) {
  return {t.row_length, t.planes_after() * t.row_length};
}

std::size_t slab_elements(const Transpose& t) {
  return t.planes_after() * t.row_length;
}

/// One all-to-all of packed blocks after all computation: a block is what one rank gets.
class Exchange final : public Variant {
 public:
  const char* name() const override { return "exchange"; }
  std::size_t packing_elements(std::size_t elements) const override { return elements; }
  std::size_t rows_per_piece(const Transpose& t) const override { return t.planes_after(); }
  std::size_t messages(const Transpose& t) const override { return t.ranks; }
  Layout landing(const Transpose& t) const override { return landing_of_slabs(t); }

  void send(const Transpose& t, const Piece& piece, Complex* packing,
            Communication&) const override {
    const std::size_t slab = slab_elements(t);
    std::memcpy(packing + (piece.to * t.planes + piece.plane) * slab, piece.data,
                slab * sizeof(Complex));
  }

  void finish(const Transpose& t, Complex* packing, Communication& communication) const override {
    const std::size_t block = t.planes * slab_elements(t);
    for (std::size_t i = 0; i < t.ranks; ++i) {
      // Each rank begins with itself, so that the ranks' first targets differ.
      const std::size_t to = (t.rank + i) % t.ranks;
      communication.put(to, t.rank * block, packing + to * block, block);
    }
  }
};

/// A slab, which is the part of one plane that belongs to one rank, goes as soon as it is computed.
class Slabs final : public Variant {
 public:
  const char* name() const override { return "slabs"; }
  std::size_t rows_per_piece(const Transpose& t) const override { return t.planes_after(); }
  std::size_t messages(const Transpose& t) const override { return t.ranks * t.planes; }
  Layout landing(const Transpose& t) const override { return landing_of_slabs(t); }

  void send(const Transpose& t, const Piece& piece, Complex*,
            Communication& communication) const override {
    const std::size_t slab = slab_elements(t);
    communication.put(piece.to, (t.first_plane() + piece.plane) * slab, piece.data, slab);
  }
};

/// A pencil, which is one row, goes as soon as it is computed, and straight to its place among the
/// rows that it will be transformed with.
class Pencils final : public Variant {
 public:
  const char* name() const override { return "pencils"; }
  std::size_t rows_per_piece(const Transpose&) const override { return 1; }
  std::size_t messages(const Transpose& t) const override { return t.rows * t.planes; }
  Layout landing(const Transpose& t) const override {
    return {t.rows_after() * t.row_length, t.row_length};
  }

  void send(const Transpose& t, const Piece& piece, Complex*,
            Communication& communication) const override {
    const std::size_t row = piece.row * t.rows_after() + t.first_plane() + piece.plane;
    communication.put(piece.to, row * t.row_length, piece.data, t.row_length);
  }
};

}  // namespace

std::unique_ptr<Variant> make_variant(const std::string& name) {
  if (name == "exchange") return std::make_unique<Exchange>();
  if (name == "slabs") return std::make_unique<Slabs>();
  if (name == "pencils") return std::make_unique<Pencils>();
  return nullptr;
}

}  // namespace ft
