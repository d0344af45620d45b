#include "../variant.h"

namespace ft {
namespace {

/// The exchange of NPB's original: by MPI_Alltoall.
class AllToAll final : public Exchange {
 public:
  const char* name() const override { return "alltoall"; }
  std::vector<Arrival> arrivals(const Transpose&) const override { return {}; }
  void finish(const Transpose& transpose, Complex* packing,
              Communication& communication) const override {
    communication.all_to_all(packing, block(transpose));
  }
};

}  // namespace

std::vector<std::string> library_variant_names() {
  return {"alltoall"};
}

std::unique_ptr<Variant> make_library_variant(const std::string& name) {
  if (name == "alltoall") return std::make_unique<AllToAll>();
  return nullptr;
}

}  // namespace ft
