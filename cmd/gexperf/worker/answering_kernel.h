#pragma once
// A kernel that stays on device 0 and puts 8 bytes of the host's memory into the device's whenever
// it is asked to, through host memory: what small puts would take without the driver.

#include <cstdint>
#include <string>

#include "kinds/cuda/driver.h"

namespace gexperf {

class AnsweringKernel {
 public:
  using Address = gex::kinds::cuda::DeviceAddress;

  /// Starts it in the current context and in `stream`, which it keeps busy. `words`: 256 bytes of
  /// host memory that the device reaches. Returns what is wrong, or nothing.
  std::string start(void* library, volatile std::uint64_t* words, Address target,
                    gex::kinds::cuda::Stream stream);
  /// Ends it.
  ~AnsweringKernel();

  /// Puts the word; it is at the target when this returns.
  void put(std::uint64_t word) noexcept;

 private:
  void ask(std::uint64_t number) noexcept;

  // Words that the kernel reads and writes, each in a line of its own.
  static constexpr std::size_t asked = 0;
  static constexpr std::size_t bytes_to_put = 8;
  static constexpr std::size_t answered = 16;
  static constexpr std::uint64_t end = ~std::uint64_t{0};

  volatile std::uint64_t* words_ = nullptr;  ///< null: it does not run
  std::uint64_t number_ = 0;
};

}  // namespace gexperf
