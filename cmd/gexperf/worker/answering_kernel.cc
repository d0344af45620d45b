#include "answering_kernel.h"

#include <dlfcn.h>

#include <type_traits>

namespace gexperf {

namespace cuda = gex::kinds::cuda;

namespace {

/// The driver compiles it for its device.
constexpr const char* program = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry answer(.param .u64 words, .param .u64 target)
{
  .reg .pred %same, %ends;
  .reg .b64 %words, %target, %seen, %asked, %word;
  ld.param.u64 %words, [words];
  ld.param.u64 %target, [target];
  mov.u64 %seen, 0;
WAIT:
  ld.volatile.u64 %asked, [%words];
  setp.eq.u64 %same, %asked, %seen;
  @%same bra WAIT;
  membar.sys;
  setp.eq.u64 %ends, %asked, -1;
  @%ends bra END;
  ld.volatile.u64 %word, [%words+64];
  st.volatile.u64 [%target], %word;
  membar.sys;
  st.volatile.u64 [%words+128], %asked;
  mov.u64 %seen, %asked;
  bra WAIT;
END:
  st.volatile.u64 [%words+128], %asked;
  ret;
}
)";

using Module = void*;
using Function = void*;

}  // namespace

std::string AnsweringKernel::start(void* library, volatile std::uint64_t* words, Address target,
                                   cuda::Stream stream) {
  cuda::Result (*load)(Module*, const void*) = nullptr;
  cuda::Result (*find)(Function*, Module, const char*) = nullptr;
  cuda::Result (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, cuda::Stream, void**, void**) = nullptr;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  if (!take(load, "cuModuleLoadData") || !take(find, "cuModuleGetFunction") ||
      !take(launch, "cuLaunchKernel"))
    return "the driver launches no kernels";
  Module module = nullptr;
  Function function = nullptr;
  if (const cuda::Result error = load(&module, program))
    return "cuModuleLoadData: error " + std::to_string(error);
  if (const cuda::Result error = find(&function, module, "answer"))
    return "cuModuleGetFunction: error " + std::to_string(error);
  for (const std::size_t word : {asked, bytes_to_put, answered}) words[word] = 0;
  Address at = cuda::address_of(words);
  void* arguments[] = {&at, &target};
  if (const cuda::Result error = launch(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr))
    return "cuLaunchKernel: error " + std::to_string(error);
  words_ = words;
  return {};
}

AnsweringKernel::~AnsweringKernel() {
  if (words_ != nullptr) ask(end);
}

void AnsweringKernel::put(std::uint64_t word) noexcept {
  words_[bytes_to_put] = word;
  ask(++number_);
}

void AnsweringKernel::ask(std::uint64_t number) noexcept {
  // Release: who finds the number finds the word.
  __atomic_store_n(words_ + asked, number, __ATOMIC_RELEASE);
  while (__atomic_load_n(words_ + answered, __ATOMIC_ACQUIRE) != number) {
  }
}

}  // namespace gexperf
