#pragma once
// The contents of a rank's segment. Everything large lies there, so that one refusal covers it all.

#include <array>
#include <cstddef>
#include <string>

#include "grid.h"
#include "traffic.h"

namespace ft {

/// Planes in transformation or under way to their owners. One would do where a put is done when it
/// returns; a network needs some time for each.
inline constexpr std::size_t kWorkPlanes = 4;

/// Longest text of FFTW's wisdom that the root hands on; a run needs a few thousand characters.
inline constexpr std::size_t kWisdomBytes = std::size_t{64} << 10;

/// Sizes in bytes, and the place of each part: the same on every rank.
class SegmentPlan {
 public:
  SegmentPlan(const Grid& grid, std::size_t packing_elements, int iterations);

  std::size_t bytes() const { return bytes_; }

  /// The sums in one line, such as "landing 64.0 MiB + spectrum 64.0 MiB + ...".
  std::string describe() const;

 private:
  friend class Memory;
  enum Part {
    kLanding,
    kSpectrum,
    kWork,
    kPacking,
    kPartials,
    kRecords,
    kWisdom,
    kVerdict,
    kParts
  };

  struct Extent {
    const char* name;
    std::size_t offset;
    std::size_t bytes;
  };

  std::array<Extent, kParts> parts_{};
  std::size_t plane_bytes_ = 0;
  std::size_t ranks_ = 0;
  std::size_t bytes_ = 0;
};

/// "1.5 GiB" and the like.
std::string format_bytes(std::size_t bytes);

/// The parts of this rank's segment, and of the root's where ranks leave their results.
class Memory {
 public:
  Memory(std::byte* segment, const SegmentPlan& plan) : segment_(segment), plan_(plan) {}

  Complex* landing() const { return mine<Complex>(SegmentPlan::kLanding); }
  Complex* spectrum() const { return mine<Complex>(SegmentPlan::kSpectrum); }
  Complex* packing() const { return mine<Complex>(SegmentPlan::kPacking); }
  Complex* work(std::size_t i) const {
    return mine<Complex>(SegmentPlan::kWork) + i * plan_.plane_bytes_ / sizeof(Complex);
  }

  /// At the root, of each rank in turn: as many as iterations, and one.
  Complex* partials() const { return mine<Complex>(SegmentPlan::kPartials); }
  Traffic* records() const { return mine<Traffic>(SegmentPlan::kRecords); }
  char* wisdom() const { return mine<char>(SegmentPlan::kWisdom); }
  int* verdict() const { return mine<int>(SegmentPlan::kVerdict); }

 private:
  template <typename T>
  T* mine(SegmentPlan::Part part) const {
    return reinterpret_cast<T*>(segment_ + plan_.parts_[part].offset);
  }

  std::byte* segment_;
  SegmentPlan plan_;
};

}  // namespace ft
