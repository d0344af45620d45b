// Exceptions are thrown here, so that programs which are compiled without them use the headers.
#include <exception>
#include <stdexcept>
#include <upcxx/heap.hpp>
#include <upcxx/rpc.hpp>
#include <upcxx/view.hpp>

namespace upcxx::detail {

void throw_bad_shared_alloc(const char* call, std::size_t size) {
  throw bad_shared_alloc(call, size);
}
void throw_network_busy() {
  throw experimental::network_busy();
}
void throw_out_of_range(const char* call) {
  throw std::out_of_range(call);
}

void end_by_exception(const char* what) {
  try {
    throw;
  } catch (const std::exception& thrown) {
    fatal_error(thrown.what(), what);
  } catch (...) {
    fatal_error("of a type that is not derived from std::exception", what);
  }
}

}  // namespace upcxx::detail
