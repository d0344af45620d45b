#include "bare_cuda.h"

#include <dlfcn.h>

#include <cstdlib>
#include <type_traits>

namespace gexperf {

namespace cuda = gex::kinds::cuda;

namespace {

constexpr int device_number = 0;
/// Only the driver of libgex's tests exports this.
constexpr const char* mark_of_fake = "fake_cuda_driver";

const char* library_name() {
  const char* const named = std::getenv("GEX_CUDA_LIBRARY");
  return named != nullptr && *named != '\0' ? named : "libcuda.so.1";
}

/// Fills the table; returns the library, or null with the reason.
void* load(cuda::Driver& driver, std::string& trouble) {
  void* const library = dlopen(library_name(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    trouble = dlerror();
    return nullptr;
  }
  const auto find = [&](auto& member, const char* name) {
    void* const symbol = dlsym(library, name);
    if (symbol == nullptr) trouble = std::string(library_name()) + " has no " + name;
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(symbol);
  };
#define GEX_CUDA_FUNCTION(member, name, parameters) find(driver.member, #name);
#include "kinds/cuda/driver_functions.def"
#undef GEX_CUDA_FUNCTION
  int devices = 0;
  if (!trouble.empty()) return nullptr;
  if (driver.init(0) != cuda::success || driver.device_count(&devices) != cuda::success ||
      devices == 0) {
    trouble = std::string(library_name()) + " has no device";
    return nullptr;
  }
  return library;
}

}  // namespace

CudaFacts find_cuda() {
  CudaFacts facts{};
  cuda::Driver driver{};
  void* const library = load(driver, facts.trouble);
  if (library == nullptr) return facts;
  char name[256] = "unknown";
  int version = 0;
  static_cast<void>(driver.device_name(name, sizeof name, device_number));
  static_cast<void>(driver.driver_version(&version));
  facts.device = name;
  facts.driver = std::string(library_name()) + " of CUDA " + std::to_string(version / 1000) + "." +
                 std::to_string(version % 1000 / 10);
  facts.is_fake = dlsym(library, mark_of_fake) != nullptr;
  return facts;
}

BareCuda::BareCuda(const Job& job, std::size_t bytes) : job_(job) {
  if (job.rank() != 0) return;
  std::string trouble;
  library_ = load(driver_, trouble);
  if (library_ == nullptr) job.fail(trouble);
  check(driver_.retain_primary_context(&context_, device_number), "cuDevicePrimaryCtxRetain");
  check(driver_.push_context(context_), "cuCtxPushCurrent");
  check(driver_.create_stream(&stream_, cuda::stream_non_blocking), "cuStreamCreate");
  for (Address& memory : devices_) check(driver_.allocate(&memory, bytes), "cuMemAlloc");
  for (Address& memory : host_) memory = cuda::address_of(allocate_host(bytes));
  flag_ = static_cast<std::uint32_t*>(allocate_host(sizeof *flag_));
  *flag_ = 0;
  cuda::Context popped = nullptr;
  check(driver_.pop_context(&popped), "cuCtxPopCurrent");
}

void* BareCuda::allocate_host(std::size_t bytes) const {
  void* memory = nullptr;
  check(driver_.allocate_host(&memory, bytes, cuda::host_memory_portable), "cuMemHostAlloc");
  return memory;
}

void BareCuda::check(cuda::Result error, const char* call) const {
  if (error == cuda::success) return;
  const char* name = "an error";
  static_cast<void>(driver_.error_name(error, &name));
  job_.fail(std::string("without libgex, ") + call + ": " + name);
}

void BareCuda::wait_by_flag() {
  const std::uint32_t number = ++last_number_;
  check(driver_.write_value(stream_, cuda::address_of(flag_), number, 0), "cuStreamWriteValue32");
  while (__atomic_load_n(flag_, __ATOMIC_ACQUIRE) != number) {
  }
}

void BareCuda::wait_by_driver() {
  check(driver_.synchronize_stream(stream_), "cuStreamSynchronize");
}

template <class Copies>
Repeated BareCuda::by_root(Copies copies) {
  return [this, copies](std::uint64_t repetitions) {
    if (job_.rank() != 0) return;
    check(driver_.push_context(context_), "cuCtxPushCurrent");
    copies(repetitions);
    cuda::Context popped = nullptr;
    check(driver_.pop_context(&popped), "cuCtxPopCurrent");
  };
}

Repeated BareCuda::one_by_one(bool to_device, bool from_device, std::size_t bytes) {
  const auto copies = [this, to_device, from_device, bytes](void (BareCuda::*wait)()) {
    return by_root([this, to_device, from_device, bytes, wait](std::uint64_t repetitions) {
      for (std::uint64_t i = 0; i < repetitions; ++i) {
        check(driver_.copy(target(to_device), source(from_device), bytes, stream_),
              "cuMemcpyAsync");
        (this->*wait)();
      }
    });
  };
  const Repeated ways[] = {copies(&BareCuda::wait_by_flag), copies(&BareCuda::wait_by_driver)};
  return ways[fastest_of(job_, ways)];
}

Repeated BareCuda::by_kernel() {
  if (job_.rank() == 0) {
    constexpr std::size_t bytes_of_words = 256;
    check(driver_.push_context(context_), "cuCtxPushCurrent");
    cuda::Stream stream = nullptr;
    check(driver_.create_stream(&stream, cuda::stream_non_blocking), "cuStreamCreate");
    const std::string trouble = kernel_.start(
        library_, static_cast<std::uint64_t*>(allocate_host(bytes_of_words)), devices_[0], stream);
    if (!trouble.empty()) job_.fail(trouble);
    cuda::Context popped = nullptr;
    check(driver_.pop_context(&popped), "cuCtxPopCurrent");
  }
  return [this](std::uint64_t repetitions) {
    if (job_.rank() != 0) return;
    for (std::uint64_t i = 0; i < repetitions; ++i) kernel_.put(i);
  };
}

Repeated BareCuda::together(bool to_device, bool from_device, std::size_t bytes,
                            unsigned at_a_time) {
  return by_root([this, to_device, from_device, bytes, at_a_time](std::uint64_t repetitions) {
    for (std::uint64_t i = 1; i <= repetitions; ++i) {
      check(driver_.copy(target(to_device), source(from_device), bytes, stream_), "cuMemcpyAsync");
      if (i % at_a_time == 0 || i == repetitions) wait_by_flag();
    }
  });
}

Repeated BareCuda::rows(bool to_device, bool from_device, std::size_t row_bytes, std::size_t step,
                        std::size_t count) {
  return by_root([this, to_device, from_device, row_bytes, step, count](std::uint64_t repetitions) {
    cuda::RowsCopy copy;
    copy.from.address = source(from_device);
    copy.to.address = target(to_device);
    copy.from.step = copy.to.step = step;
    copy.row_bytes = row_bytes;
    copy.rows = count;
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      check(driver_.copy_rows(&copy, stream_), "cuMemcpy2DAsync");
      wait_by_flag();
    }
  });
}

}  // namespace gexperf
