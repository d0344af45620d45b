#include "problem.h"

#include <gtest/gtest.h>

namespace {

std::string error_of(const std::string& document, const std::string& name = "X") {
  const ft::ProblemOrError found = ft::find_problem(document, "file", name);
  return found.problem ? "" : found.error;
}

std::string with_class(const std::string& body) {
  return R"({"classes": {"X": )" + body + "}}";
}

TEST(Problem, PublishedClassesAreThoseOfNas) {
  const struct {
    const char* name;
    std::size_t nx, ny, nz;
    int iterations;
  } kClasses[] = {{"S", 64, 64, 64, 6},     {"W", 128, 128, 32, 6},   {"A", 256, 256, 128, 6},
                  {"B", 512, 256, 256, 20}, {"C", 512, 512, 512, 20}, {"D", 2048, 1024, 1024, 25}};
  for (const auto& expected : kClasses) {
    const auto found = ft::find_problem(ft::published_classes, "nas_ft.json", expected.name);
    ASSERT_TRUE(found.problem) << found.error;
    EXPECT_EQ(found.problem->nx, expected.nx);
    EXPECT_EQ(found.problem->ny, expected.ny);
    EXPECT_EQ(found.problem->nz, expected.nz);
    EXPECT_EQ(found.problem->iterations(), expected.iterations);
  }
}

TEST(Problem, RankCountsArePowersOfTwoThatDivideBothKindsOfPlanes) {
  const auto found = ft::find_problem(ft::published_classes, "nas_ft.json", "W");
  ASSERT_TRUE(found.problem);
  EXPECT_EQ(found.problem->rank_counts(), (std::vector<unsigned>{1, 2, 4, 8, 16, 32}));
}

TEST(Problem, VerificationEndsAtTheFirstChecksumThatIsOff) {
  auto problem = *ft::find_problem(ft::published_classes, "nas_ft.json", "S").problem;
  std::vector<ft::Complex> computed = problem.checksums;
  EXPECT_EQ(ft::verified_iterations(problem, computed), 6);
  computed[3] = {computed[3].real(), computed[3].imag() * (1 + 0.9e-12)};
  EXPECT_EQ(ft::verified_iterations(problem, computed), 6);
  computed[3] = {computed[3].real(), computed[3].imag() * (1 + 2.5e-12)};
  EXPECT_EQ(ft::verified_iterations(problem, computed), 3);
  computed[1] = {std::nan(""), computed[1].imag()};
  EXPECT_EQ(ft::verified_iterations(problem, computed), 1);
}

TEST(Problem, RateIsThatOfTheNasFormula) {
  // Class S: 177.17 million operations.
  EXPECT_NEAR(ft::mops(64 * 64 * 64, 6, 1.0), 177.17, 0.01);
  EXPECT_NEAR(ft::mops(64 * 64 * 64, 6, 0.5), 2 * 177.17, 0.02);
}

TEST(Problem, BadDocumentsAreRefusedWithTheReason) {
  EXPECT_EQ(error_of("{"), "file is not JSON");
  EXPECT_EQ(error_of("[]"), "file has no \"classes\"");
  EXPECT_EQ(error_of(R"({"classes": {}})"), "file has no \"classes\"");
  EXPECT_EQ(error_of(with_class("3"), "Y"), "unknown class 'Y': the classes are X");
  const std::string sides = "file: nx, ny and nz of class X must be powers of two from 2 to 16384";
  EXPECT_EQ(error_of(with_class("3")), sides);
  EXPECT_EQ(error_of(with_class(R"({"nx": 48, "ny": 64, "nz": 64})")), sides);
  EXPECT_EQ(error_of(with_class(R"({"nx": 1, "ny": 64, "nz": 64})")), sides);
  EXPECT_EQ(error_of(with_class(R"({"nx": -2, "ny": 64, "nz": 64})")), sides);
  const std::string sums =
      "file: class X must have as many \"checksums\", pairs of numbers, as \"iterations\"";
  const std::string grid = R"({"nx": 64, "ny": 64, "nz": 64)";
  EXPECT_EQ(error_of(with_class(grid + "}")), sums);
  EXPECT_EQ(error_of(with_class(grid + R"(, "iterations": 1, "checksums": [[1]]})")), sums);
  EXPECT_EQ(error_of(with_class(grid + R"(, "iterations": 2, "checksums": [[1, 2]]})")), sums);
  EXPECT_EQ(error_of(with_class(grid + R"(, "iterations": 1, "checksums": [[1, 2]]})")), "");
}

}  // namespace
