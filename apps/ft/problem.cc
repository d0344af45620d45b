#include "problem.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ft {
namespace {

using nlohmann::json;

ProblemOrError refuse(std::string error) {
  return {std::nullopt, std::move(error)};
}

bool read_side(const json& entry, const char* key, std::size_t& side) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number_unsigned()) return false;
  side = found->get<std::size_t>();
  // A grid of 2^14 a side is far beyond any class, and keeps every product below 2^46.
  return std::has_single_bit(side) && side >= 2 && side <= (std::size_t{1} << 14);
}

bool read_checksums(const json& entry, std::vector<Complex>& checksums) {
  const auto found = entry.find("checksums");
  if (found == entry.end() || !found->is_array() || found->empty()) return false;
  for (const json& pair : *found) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) {
      return false;
    }
    checksums.emplace_back(pair[0].get<double>(), pair[1].get<double>());
  }
  const auto iterations = entry.find("iterations");
  return iterations != entry.end() && iterations->is_number_unsigned() &&
         iterations->get<std::size_t>() == checksums.size();
}

bool agrees(double computed, double published) {
  return std::abs((computed - published) / published) <= kTolerance;
}

}  // namespace

std::vector<unsigned> Problem::rank_counts() const {
  std::vector<unsigned> counts;
  for (std::size_t count = 1; count <= std::min(ny, nz); count *= 2) {
    counts.push_back(static_cast<unsigned>(count));
  }
  return counts;
}

ProblemOrError find_problem(std::string_view document, const std::string& source,
                            const std::string& name) {
  const json parsed = json::parse(document, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return refuse(source + " is not JSON");
  const auto classes = parsed.is_object() ? parsed.find("classes") : parsed.end();
  if (classes == parsed.end() || !classes->is_object() || classes->empty()) {
    return refuse(source + " has no \"classes\"");
  }
  const auto entry = classes->find(name);
  if (entry == classes->end()) {
    std::vector<std::string> names;
    for (const auto& item : classes->items()) names.push_back(item.key());
    // S and W are the small ones: NAS lists them first.
    std::stable_partition(names.begin(), names.end(),
                          [](const std::string& n) { return n == "S" || n == "W"; });
    std::string line = "unknown class '" + name + "': the classes are";
    for (const std::string& known : names) line.append(" ").append(known);
    return refuse(line);
  }
  Problem problem;
  problem.name = name;
  if (!entry->is_object() || !read_side(*entry, "nx", problem.nx) ||
      !read_side(*entry, "ny", problem.ny) || !read_side(*entry, "nz", problem.nz)) {
    return refuse(source + ": nx, ny and nz of class " + name +
                  " must be powers of two from 2 to 16384");
  }
  if (!read_checksums(*entry, problem.checksums)) {
    return refuse(source + ": class " + name +
                  " must have as many \"checksums\", pairs of numbers, as \"iterations\"");
  }
  return {std::move(problem), ""};
}

int verified_iterations(const Problem& problem, const std::vector<Complex>& computed) {
  const std::size_t count = std::min(problem.checksums.size(), computed.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Complex published = problem.checksums[i];
    if (!agrees(computed[i].real(), published.real()) ||
        !agrees(computed[i].imag(), published.imag())) {
      return static_cast<int>(i);
    }
  }
  return static_cast<int>(count);
}

double mops(std::size_t points, int iterations, double seconds) {
  const double n = static_cast<double>(points);
  const double log_n = std::log(n);
  return 1e-6 * n *
         (14.8157 + 7.19641 * log_n +
          (5.23518 + 7.21113 * log_n) * static_cast<double>(iterations)) /
         seconds;
}

}  // namespace ft
