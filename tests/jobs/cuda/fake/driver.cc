// Devices, contexts and streams.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "fake.h"

using namespace fake_cuda;
using cuda::Context;
using cuda::DeviceAddress;
using cuda::DeviceNumber;
using cuda::Result;
using cuda::Stream;

namespace {

struct Operation {
  enum class What { copy, write_value, wait_value, record, wait_event };
  What what;
  DeviceAddress to = 0;
  DeviceAddress from = 0;   ///< of a copy
  std::size_t bytes = 0;    ///< of a copy, in each row
  std::uint64_t value = 0;  ///< that is written or awaited, or the number of a recording
  cuda::Event event = nullptr;
  std::size_t rows = 1;
  std::size_t to_stride = 0;
  std::size_t from_stride = 0;
  std::size_t planes = 1;
  std::size_t to_plane = 0;
  std::size_t from_plane = 0;
};

}  // namespace

struct gex::kinds::cuda::StreamOfDriver {
  int device;
  std::deque<Operation> operations;
  bool in_operation = false;
  Result error = success;
};

struct gex::kinds::cuda::EventOfDriver {
  std::uint64_t recorded = 0;
  std::uint64_t happened = 0;
};

namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

std::byte* host(DeviceAddress address) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

/// Executes the operations of all streams, those of one in their order.
class Engine {
 public:
  static Engine& of_process() {
    static auto* const engine = new Engine;
    return *engine;
  }

  Stream add(int device) {
    const std::lock_guard lock(mutex_);
    streams_.push_back(new cuda::StreamOfDriver{device, {}});
    return streams_.back();
  }

  Result push(Stream stream, const Operation& operation) {
    const std::lock_guard lock(mutex_);
    if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end())
      return invalid_handle;
    if (stream->error != cuda::success) return stream->error;
    if (!running_) std::thread([this] { run(); }).detach();
    running_ = true;
    stream->operations.push_back(operation);
    changed_.notify_all();
    return cuda::success;
  }

  cuda::Event new_event() { return new cuda::EventOfDriver; }
  Result record(cuda::Event event, Stream stream) {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = ++event->recorded;
    }
    return push(stream, {.what = Operation::What::record, .value = number, .event = event});
  }
  /// The record that is made at the time of the call.
  Result wait_for(cuda::Event event, Stream stream) {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = event->recorded;
    }
    return push(stream, {.what = Operation::What::wait_event, .value = number, .event = event});
  }

  Result wait(Stream stream) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stream->operations.empty() && !stream->in_operation; });
    return stream->error;
  }

 private:
  void run() {
    std::mt19937 random(static_cast<std::uint32_t>(number_of("FAKE_CUDA_SEED", 1)));
    std::unique_lock lock(mutex_);
    for (;;) {
      std::vector<Stream> ready;
      bool any_waits = false;
      for (const Stream stream : streams_) {
        if (stream->operations.empty()) continue;
        if (may_go_on(stream->operations.front()))
          ready.push_back(stream);
        else
          any_waits = true;
      }
      if (ready.empty()) {
        // Values are written by processors, which wake nothing.
        if (any_waits)
          changed_.wait_for(lock, std::chrono::microseconds(100));
        else
          changed_.wait(lock);
        continue;
      }
      const Stream stream = ready[random() % ready.size()];
      const Operation operation = stream->operations.front();
      stream->operations.pop_front();
      stream->in_operation = true;
      const unsigned delay = random() % 4;
      lock.unlock();
      for (unsigned i = 0; i < delay; ++i) std::this_thread::yield();
      const bool done = execute(operation);
      lock.lock();
      if (operation.what == Operation::What::record) operation.event->happened = operation.value;
      stream->in_operation = false;
      if (!done) stream->error = illegal_address;
      changed_.notify_all();
    }
  }

  /// With the mutex held.
  static bool may_go_on(const Operation& operation) {
    if (operation.what == Operation::What::wait_event)
      return operation.event->happened >= operation.value;
    if (operation.what != Operation::What::wait_value) return true;
    const std::uint32_t value =
        __atomic_load_n(reinterpret_cast<std::uint32_t*>(host(operation.to)), __ATOMIC_ACQUIRE);
    return static_cast<std::int32_t>(value - static_cast<std::uint32_t>(operation.value)) >= 0;
  }

  static bool execute(const Operation& operation) {
    if (operation.what == Operation::What::write_value)
      // Release: who finds the value finds what was copied before.
      __atomic_store_n(reinterpret_cast<std::uint32_t*>(host(operation.to)),
                       static_cast<std::uint32_t>(operation.value), __ATOMIC_RELEASE);
    if (operation.what != Operation::What::copy) return true;
    for (std::size_t row = 0; row < operation.planes * operation.rows; ++row) {
      const std::size_t plane = row / operation.rows, in_plane = row % operation.rows;
      std::byte* const to =
          reach(host(operation.to + plane * operation.to_plane + in_plane * operation.to_stride),
                operation.bytes);
      const std::byte* const from = reach(
          host(operation.from + plane * operation.from_plane + in_plane * operation.from_stride),
          operation.bytes);
      if (to == nullptr || from == nullptr) return false;
      std::memcpy(to, from, operation.bytes);
    }
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Stream> streams_;
  bool running_ = false;
};

thread_local std::vector<Context> stack_of_contexts;

struct Planes {
  std::size_t planes;
  std::size_t to_plane = 0;
  std::size_t from_plane = 0;
};

/// A copy of rows, or of planes of rows.
template <class Copy>
Result push_rows(Stream stream, const Copy& copy, const Planes& planes) {
  if (stream == nullptr || stream->device != device_of(current())) return invalid_handle;
  if (copy.from.step < copy.row_bytes || copy.to.step < copy.row_bytes) return invalid_value;
  if (copy.row_bytes == 0 || copy.rows == 0 || planes.planes == 0) return cuda::success;
  const auto address = [](unsigned type, const void* on_host, DeviceAddress address_or_null) {
    return type == cuda::host_memory_type
               ? static_cast<DeviceAddress>(reinterpret_cast<std::uintptr_t>(on_host))
               : address_or_null;
  };
  const Operation operation{
      .what = Operation::What::copy,
      .to = address(copy.to.memory_type, copy.to.host, copy.to.address),
      .from = address(copy.from.memory_type, copy.from.host, copy.from.address),
      .bytes = copy.row_bytes,
      .rows = copy.rows,
      .to_stride = copy.to.step,
      .from_stride = copy.from.step,
      .planes = planes.planes,
      .to_plane = planes.to_plane,
      .from_plane = planes.from_plane};
  const auto extent = [&](std::size_t plane, std::size_t stride) {
    return (operation.planes - 1) * plane + (operation.rows - 1) * stride + operation.bytes;
  };
  if (!is_copied_at_once(host(operation.to), extent(operation.to_plane, operation.to_stride)) ||
      !is_copied_at_once(host(operation.from), extent(operation.from_plane, operation.from_stride)))
    return invalid_value;
  return Engine::of_process().push(stream, operation);
}

Result copy_now(DeviceAddress to, DeviceAddress from, std::size_t bytes) {
  std::byte* const there = reach(host(to), bytes);
  const std::byte* const here = reach(host(from), bytes);
  if (there == nullptr || here == nullptr) return illegal_address;
  std::memcpy(there, here, bytes);
  return cuda::success;
}

}  // namespace

namespace fake_cuda {

Context current() {
  return stack_of_contexts.empty() ? nullptr : stack_of_contexts.back();
}

int device_of(Context context) {
  return context->device;
}

Context primary_context(int device) {
  static auto& contexts = *[] {
    auto* const made = new std::array<cuda::ContextOfDriver, 64>;
    for (int number = 0; cuda::ContextOfDriver & context : *made) context.device = number++;
    return made;
  }();
  return &contexts[static_cast<std::size_t>(device)];
}

int device_count() {
  return static_cast<int>(number_of("FAKE_CUDA_DEVICES", 2));
}

bool has_variable(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr && *text != '\0';
}

bool has_ended() {
  static std::atomic<bool> ended{false};
  static const struct End {
    ~End() { ended = true; }
  } end;
  return ended;
}

bool fails(const char* function) {
  static std::mutex mutex;
  static std::uint64_t calls = 0;
  const char* const text = std::getenv("FAKE_CUDA_FAIL");
  if (text == nullptr) return false;
  const char* const colon = std::strchr(text, ':');
  if (colon == nullptr || std::string(text, colon) != function) return false;
  const std::lock_guard lock(mutex);
  if (++calls != std::strtoull(colon + 1, nullptr, 0)) return false;
  if (has_variable("FAKE_CUDA_SHOW_FAILURE"))
    std::fprintf(stderr, "libcuda-fake.so: fails as asked: %s\n", function);
  return true;
}

}  // namespace fake_cuda

extern "C" {

/// Programs that report figures look for it.
extern const int fake_cuda_driver;
const int fake_cuda_driver = 1;

Result cuInit(unsigned) {
  FAKE_CUDA_ENTER;
  return cuda::success;
}

Result cuDriverGetVersion(int* version) {
  FAKE_CUDA_ENTER;
  *version = 13000;
  return cuda::success;
}

Result cuGetErrorName(Result error, const char** name) {
  static const std::map<Result, const char*> names = {
      {invalid_value, "CUDA_ERROR_INVALID_VALUE"},
      {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {invalid_device, "CUDA_ERROR_INVALID_DEVICE"},
      {invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
      {invalid_handle, "CUDA_ERROR_INVALID_HANDLE"},
      {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {unknown, "CUDA_ERROR_UNKNOWN"}};
  const auto found = names.find(error);
  if (found == names.end()) return invalid_value;
  *name = found->second;
  return cuda::success;
}

Result cuDeviceGetCount(int* count) {
  FAKE_CUDA_ENTER;
  *count = device_count();
  return cuda::success;
}

Result cuDeviceGetName(char* name, int bytes, DeviceNumber device) {
  FAKE_CUDA_ENTER;
  std::snprintf(name, static_cast<std::size_t>(bytes), "Fake device %d", device);
  return cuda::success;
}

Result cuDeviceGetUuid(cuda::Uuid* uuid, DeviceNumber device) {
  FAKE_CUDA_ENTER;
  std::memset(uuid->bytes, 'a' + device, sizeof uuid->bytes);
  return cuda::success;
}

Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceNumber) {
  FAKE_CUDA_ENTER;
  *bytes = number_of("FAKE_CUDA_MEMORY", std::uint64_t{64} << 20);
  return cuda::success;
}

Result cuDeviceGetAttribute(int* value, cuda::DeviceAttribute attribute, DeviceNumber device) {
  FAKE_CUDA_ENTER;
  if (device < 0 || device >= device_count()) return invalid_device;
  const bool uva = !has_variable("FAKE_CUDA_NO_UVA");
  const bool vmm = !has_variable("FAKE_CUDA_NO_VMM");
  *value = (attribute == cuda::unified_addressing ? uva : vmm) ? 1 : 0;
  return cuda::success;
}

Result cuDevicePrimaryCtxRetain(Context* context, DeviceNumber device) {
  FAKE_CUDA_ENTER;
  *context = primary_context(device);
  return cuda::success;
}

Result cuCtxCreate_v2(Context* context, unsigned, DeviceNumber device) {
  FAKE_CUDA_ENTER;
  *context = new cuda::ContextOfDriver{device};
  stack_of_contexts.push_back(*context);
  return cuda::success;
}

Result cuCtxGetCurrent(Context* context) {
  FAKE_CUDA_ENTER;
  *context = current();
  return cuda::success;
}

Result cuCtxPushCurrent_v2(Context context) {
  FAKE_CUDA_ENTER;
  if (context == nullptr) return invalid_context;
  stack_of_contexts.push_back(context);
  return cuda::success;
}

Result cuCtxPopCurrent_v2(Context* context) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  *context = current();
  stack_of_contexts.pop_back();
  return cuda::success;
}

Result cuStreamCreate(Stream* stream, unsigned flags) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  // Libraries have no streams that the client's default stream waits for.
  if (flags != cuda::stream_non_blocking) return invalid_value;
  *stream = Engine::of_process().add(device_of(current()));
  return cuda::success;
}

Result cuStreamSynchronize(Stream stream) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  return Engine::of_process().wait(stream);
}

Result cuStreamWriteValue32_v2(Stream stream, DeviceAddress address, std::uint32_t value,
                               unsigned) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (stream == nullptr || stream->device != device_of(current())) return invalid_handle;
  return Engine::of_process().push(
      stream, {.what = Operation::What::write_value, .to = address, .value = value});
}

Result cuMemcpyAsync(DeviceAddress to, DeviceAddress from, std::size_t bytes, Stream stream) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (stream == nullptr || stream->device != device_of(current())) return invalid_handle;
  if (bytes == 0) return cuda::success;
  if (reach(host(to), bytes) == nullptr || reach(host(from), bytes) == nullptr ||
      !is_copied_at_once(host(to), bytes) || !is_copied_at_once(host(from), bytes))
    return invalid_value;
  return Engine::of_process().push(
      stream, {.what = Operation::What::copy, .to = to, .from = from, .bytes = bytes});
}

/// In reverse order, since a driver may have any.
Result cuMemcpyBatchAsync(const DeviceAddress* to, const DeviceAddress* from,
                          const std::size_t* bytes, std::size_t count,
                          const cuda::BatchAttributes* attributes, const std::size_t* firsts,
                          std::size_t attributes_count, std::size_t* failed, Stream stream) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (count == 0 || attributes_count != 1 || firsts[0] != 0 || attributes->source_order != 1)
    return invalid_value;
  for (std::size_t i = count; i-- > 0;) {
    *failed = i;
    if (const Result error = cuMemcpyAsync(to[i], from[i], bytes[i], stream)) return error;
  }
  return cuda::success;
}

Result cuStreamWaitValue32_v2(Stream stream, DeviceAddress address, std::uint32_t value,
                              unsigned flags) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (stream == nullptr || flags != cuda::wait_until_at_least) return invalid_handle;
  return Engine::of_process().push(
      stream, {.what = Operation::What::wait_value, .to = address, .value = value});
}

Result cuStreamWaitEvent(Stream stream, cuda::Event event, unsigned) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (stream == nullptr || event == nullptr) return invalid_handle;
  return Engine::of_process().wait_for(event, stream);
}

Result cuMemcpy2DAsync_v2(const cuda::RowsCopy* copy, Stream stream) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  return push_rows(stream, *copy, {.planes = 1});
}

Result cuMemcpy3DAsync_v2(const cuda::PlanesCopy* copy, Stream stream) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (copy->from.reserved != nullptr || copy->to.reserved != nullptr ||
      copy->from.step_rows < copy->rows || copy->to.step_rows < copy->rows)
    return invalid_value;
  return push_rows(stream, *copy,
                   {.planes = copy->planes,
                    .to_plane = copy->to.step_rows * copy->to.step,
                    .from_plane = copy->from.step_rows * copy->from.step});
}

Result cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (*memory == nullptr) return out_of_memory;
  return cuda::success;
}

// What tests call: events, and synchronous copies.
Result cuEventCreate(cuda::Event* event, unsigned) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  *event = Engine::of_process().new_event();
  return cuda::success;
}
Result cuEventRecord(cuda::Event event, Stream stream) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  return Engine::of_process().record(event, stream);
}
Result cuMemcpyHtoD_v2(DeviceAddress to, const void* from, std::size_t bytes) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  return copy_now(to, reinterpret_cast<std::uintptr_t>(from), bytes);
}
Result cuMemcpyDtoH_v2(void* to, DeviceAddress from, std::size_t bytes) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  return copy_now(reinterpret_cast<std::uintptr_t>(to), from, bytes);
}

}  // extern "C"
