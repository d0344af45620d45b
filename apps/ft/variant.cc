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

/// A slab, which is the part of one plane that belongs to one rank, goes as soon as it is computed.
class Slabs final : public Variant {
 public:
  const char* name() const override { return "slabs"; }
  std::size_t rows_per_piece(const Transpose& t) const override { return t.planes_after(); }
  std::size_t messages(const Transpose& t) const override { return t.ranks * t.planes; }
  Layout landing(const Transpose& t) const override { return landing_of_slabs(t); }
  std::size_t place(const Transpose& t, std::size_t from, std::size_t plane,
                    std::size_t) const override {
    return (from * t.planes + plane) * slab_elements(t);
  }

  void send(const Transpose& t, const Piece& piece, Complex*,
            Communication& communication) const override {
    communication.put(piece.to, place(t, t.rank, piece.plane, piece.row), piece.data,
                      slab_elements(t));
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
  std::size_t place(const Transpose& t, std::size_t from, std::size_t plane,
                    std::size_t row) const override {
    return (row * t.rows_after() + from * t.planes + plane) * t.row_length;
  }

  void send(const Transpose& t, const Piece& piece, Complex*,
            Communication& communication) const override {
    communication.put(piece.to, place(t, t.rank, piece.plane, piece.row), piece.data, t.row_length);
  }
};

}  // namespace

std::vector<Arrival> Variant::arrivals(const Transpose& t) const {
  std::vector<Arrival> all;
  const std::size_t rows = rows_per_piece(t);
  for (std::size_t from = 0; from < t.ranks; ++from) {
    if (from == t.rank) continue;
    for (std::size_t plane = 0; plane < t.planes; ++plane)
      for (std::size_t row = 0; row < t.planes_after(); row += rows)
        all.push_back({from, place(t, from, plane, row), rows * t.row_length});
  }
  return all;
}

Layout Exchange::landing(const Transpose& t) const {
  return landing_of_slabs(t);
}

std::size_t Exchange::block(const Transpose& t) {
  return t.planes * slab_elements(t);
}

std::size_t Exchange::place(const Transpose& t, std::size_t from, std::size_t plane,
                            std::size_t) const {
  return from * block(t) + plane * slab_elements(t);
}

std::vector<Arrival> Exchange::arrivals(const Transpose& t) const {
  std::vector<Arrival> all;
  for (std::size_t from = 0; from < t.ranks; ++from)
    if (from != t.rank) all.push_back({from, place(t, from, 0, 0), block(t)});
  return all;
}

void Exchange::send(const Transpose& t, const Piece& piece, Complex* packing,
                    Communication&) const {
  std::memcpy(packing + place(t, piece.to, piece.plane, piece.row), piece.data,
              slab_elements(t) * sizeof(Complex));
}

void Exchange::finish(const Transpose& t, Complex* packing, Communication& communication) const {
  for (std::size_t i = 0; i < t.ranks; ++i) {
    // Each rank begins with itself, so that the ranks' first targets differ.
    const std::size_t to = (t.rank + i) % t.ranks;
    communication.put(to, place(t, t.rank, 0, 0), packing + to * block(t), block(t));
  }
}

std::vector<std::string> variant_names() {
  std::vector<std::string> names = {"exchange", "slabs", "pencils"};
  for (const std::string& name : library_variant_names()) names.push_back(name);
  return names;
}

std::unique_ptr<Variant> make_variant(const std::string& name) {
  if (name == "exchange") return std::make_unique<Exchange>();
  if (name == "slabs") return std::make_unique<Slabs>();
  if (name == "pencils") return std::make_unique<Pencils>();
  return make_library_variant(name);
}

}  // namespace ft
