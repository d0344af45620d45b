// The one kernel that the driver for tests has: that of gexperf, in the place of which a thread
// runs. It ends no stream's waits.

#include <cstring>
#include <thread>

#include "fake.h"

using namespace fake_cuda;
using cuda::Result;

namespace {

using Word = std::uint64_t;

/// As the program in PTX does (cmd/gexperf/worker/answering_kernel.cc).
void answer(Word* words, cuda::DeviceAddress target) {
  constexpr Word end = ~Word{0};
  for (Word seen = 0; seen != end;) {
    const Word asked = __atomic_load_n(words, __ATOMIC_ACQUIRE);
    if (asked == seen) {
      std::this_thread::yield();
      continue;
    }
    void* const to = reach(reinterpret_cast<void*>(target), sizeof(Word));
    if (asked != end && to != nullptr) std::memcpy(to, words + 8, sizeof(Word));
    __atomic_store_n(words + 16, asked, __ATOMIC_RELEASE);
    seen = asked;
  }
}

int the_module, the_function;

}  // namespace

extern "C" {

Result cuModuleLoadData(void** module, const void* image) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (std::strstr(static_cast<const char*>(image), ".entry answer(") == nullptr)
    return invalid_value;
  *module = &the_module;
  return cuda::success;
}

Result cuModuleGetFunction(void** function, void* module, const char* name) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (module != &the_module || std::strcmp(name, "answer") != 0) return invalid_value;
  *function = &the_function;
  return cuda::success;
}

Result cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, cuda::Stream, void** arguments, void**) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (function != &the_function) return invalid_value;
  Word* words = nullptr;
  cuda::DeviceAddress target = 0;
  std::memcpy(&words, arguments[0], sizeof words);
  std::memcpy(&target, arguments[1], sizeof target);
  std::thread(answer, words, target).detach();
  return cuda::success;
}

}  // extern "C"
