// From the memory of a device to that of another rank's device, where there are devices.
#include <upcxx/upcxx.hpp>
#include <vector>

int main() {
  upcxx::init();
  auto heap = upcxx::make_gpu_allocator<upcxx::cuda_device>(1 << 20);
  using Pointer = upcxx::global_ptr<int, upcxx::memory_kind::cuda_device>;
  constexpr std::size_t count = 1000;
  if (heap.is_active()) {
    upcxx::dist_object<Pointer> numbers(heap.allocate<int>(count));
    const Pointer next = numbers.fetch((upcxx::rank_me() + 1) % upcxx::rank_n()).wait();
    std::vector<int> values(count, 7);
    upcxx::copy(values.data(), next, count).wait();
    upcxx::barrier();
    std::vector<int> back(count);
    upcxx::copy(*numbers, back.data(), count).wait();
    UPCXX_ASSERT_ALWAYS(back == values);
    heap.deallocate(*numbers);
    upcxx::barrier();
    heap.destroy();
  }
  upcxx::finalize();
  return 0;
}
