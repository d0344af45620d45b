#include "memory.h"

#include <cstdio>

namespace ft {
namespace {

constexpr std::size_t kAlignment = 4096;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

SegmentPlan::SegmentPlan(const Grid& grid, std::size_t packing_elements, int iterations)
    : plane_bytes_(aligned(grid.plane_elements() * sizeof(Complex))), ranks_(grid.ranks) {
  const std::size_t share = grid.elements() * sizeof(Complex);
  const std::size_t partials = static_cast<std::size_t>(iterations) * ranks_ * sizeof(Complex);
  parts_[kLanding] = {"landing", 0, share};
  parts_[kSpectrum] = {"spectrum", 0, share};
  parts_[kWork] = {"work planes", 0, kWorkPlanes * plane_bytes_};
  parts_[kPacking] = {"packing", 0, packing_elements * sizeof(Complex)};
  parts_[kPartials] = {"checksums", 0, partials};
  parts_[kRecords] = {"records", 0, ranks_ * sizeof(Traffic)};
  parts_[kWisdom] = {"wisdom", 0, kWisdomBytes};
  parts_[kVerdict] = {"verdict", 0, sizeof(int)};
  for (Extent& part : parts_) {
    part.offset = bytes_;
    bytes_ += aligned(part.bytes);
  }
}

std::string SegmentPlan::describe() const {
  std::string line;
  std::size_t rest = bytes_;
  for (const Part part : {kLanding, kSpectrum, kWork, kPacking}) {
    if (parts_[part].bytes == 0) continue;
    line += std::string(parts_[part].name) + " " + format_bytes(parts_[part].bytes) + " + ";
    rest -= parts_[part].bytes;
  }
  return line + "results " + format_bytes(rest);
}

std::string format_bytes(std::size_t bytes) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, kUnits[unit]);
  return text;
}

}  // namespace ft
