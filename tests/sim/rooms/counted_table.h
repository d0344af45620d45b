#pragma once
// A copy of a table that counts its reads: they fault, and are done again, one instruction each,
// with the table readable.
//
//   CountedTable table(values, count);
//   use(table.data());
//   EXPECT_EQ(table.reads(), 1);
//
// One at a time in the process, for one thread. x86-64.

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>

namespace gex {

template <class T>
class CountedTable {
 public:
  static constexpr std::size_t room = 4096;

  /// Requires that `count` values fit into `room`.
  CountedTable(const T* values, std::size_t count)
      : data_(static_cast<T*>(
            mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (data_ == MAP_FAILED || count * sizeof(T) > room) std::abort();
    std::copy_n(values, count, data_);
    counting = this;
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = fault;
    sigaction(SIGSEGV, &action, &former_fault_);
    action.sa_sigaction = step;
    sigaction(SIGTRAP, &action, &former_step_);
    protect(PROT_NONE);
  }
  CountedTable(const CountedTable&) = delete;
  CountedTable& operator=(const CountedTable&) = delete;
  ~CountedTable() {
    sigaction(SIGSEGV, &former_fault_, nullptr);
    sigaction(SIGTRAP, &former_step_, nullptr);
    munmap(data_, room);
  }

  T* data() const { return data_; }
  int reads() const { return reads_; }

 private:
  // The processor stops behind each instruction while this flag is set.
  static constexpr greg_t trap_flag = 0x100;

  void protect(int access) const { mprotect(data_, room, access); }
  static greg_t& flags_of(void* context) {
    return static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
  }
  static void fault(int, siginfo_t* info, void* context) {
    CountedTable& table = *counting;
    const auto* const at = static_cast<const std::byte*>(info->si_addr);
    const auto* const begin = reinterpret_cast<const std::byte*>(table.data_);
    if (at < begin || at >= begin + room) std::abort();
    table.reads_ = table.reads_ + 1;
    table.protect(PROT_READ);
    flags_of(context) |= trap_flag;
  }
  static void step(int, siginfo_t*, void* context) {
    counting->protect(PROT_NONE);
    flags_of(context) &= ~trap_flag;
  }

  static inline CountedTable* counting = nullptr;
  T* data_;
  volatile int reads_ = 0;
  struct sigaction former_fault_;
  struct sigaction former_step_;
};

}  // namespace gex
