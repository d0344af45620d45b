// A column of a matrix, whose elements are a row apart, goes to the next rank in one put.
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  constexpr std::ptrdiff_t rows = 50;
  constexpr std::ptrdiff_t columns = 20;
  const upcxx::intrank_t me = upcxx::rank_me();
  const upcxx::intrank_t n = upcxx::rank_n();
  upcxx::dist_object<upcxx::global_ptr<double>> matrix(upcxx::new_array<double>(rows * columns));
  double* const mine = matrix->local();
  for (std::ptrdiff_t i = 0; i < rows * columns; ++i) mine[i] = me;
  const upcxx::global_ptr<double> next = matrix.fetch((me + 1) % n).wait();
  upcxx::barrier();  // all matrices are filled

  // The last but one column here is the first one, the halo, there. Strides are in bytes.
  constexpr std::ptrdiff_t row = columns * sizeof(double);
  upcxx::rput_strided<1>(mine + columns - 2, {{row}}, next, {{row}}, {{rows}}).wait();
  upcxx::barrier();
  UPCXX_ASSERT_ALWAYS(mine[7 * columns] == (me + n - 1) % n && mine[7 * columns + 1] == me);
  upcxx::barrier();
  upcxx::delete_array(*matrix);
  upcxx::finalize();
  return 0;
}
