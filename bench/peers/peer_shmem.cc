// The operations of OpenSHMEM: puts, gets and fetch-and-add.
//
//   oshrun -n 2 --bind-to core peer_shmem put:8,4096

#include <shmem.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "measure.h"

namespace {

using peers::Repeated;

class Shmem final : public peers::Library {
 public:
  explicit Shmem(int argc)
      : window_(static_cast<char*>(shmem_malloc(peers::window_for(argc)))),
        shared_(static_cast<std::uint64_t*>(shmem_malloc(2 * sizeof(std::uint64_t)))),
        buffer_(peers::buffer_for(argc)) {
    std::memset(window_, 0, peers::window_for(argc));
    shared_[0] = shared_[1] = 0;
    for (auto& words : synced_) std::fill(std::begin(words), std::end(words), SHMEM_SYNC_VALUE);
    barrier();
  }

  unsigned rank() const override { return static_cast<unsigned>(shmem_my_pe()); }
  unsigned size() const override { return static_cast<unsigned>(shmem_n_pes()); }
  void barrier() override { shmem_barrier_all(); }
  std::uint64_t from_root(std::uint64_t value) override {
    if (rank() == 0) shared_[0] = value;
    barrier();
    shmem_getmem(&value, shared_, sizeof value, 0);
    barrier();
    return value;
  }

  Repeated operation(const std::string& name, std::size_t bytes) override {
    if (name == "put")
      return by_root([this, bytes] {
        shmem_putmem(window_, buffer_.data(), bytes, 1);
        shmem_quiet();
      });
    if (name == "get")
      return by_root([this, bytes] { shmem_getmem(buffer_.data(), window_, bytes, 1); });
    if (name == "put.flood")
      return flood(bytes, [this, bytes] { shmem_putmem_nbi(window_, buffer_.data(), bytes, 1); });
    if (name == "get.flood")
      return flood(bytes, [this, bytes] { shmem_getmem_nbi(buffer_.data(), window_, bytes, 1); });
    // OpenSHMEM's fetch-and-add returns with its result: a flood of them would be no other.
    if (name == "fadd.i32" || name == "fadd.u32")
      return by_root(
          [this] { shmem_int_atomic_fetch_add(reinterpret_cast<int*>(shared_ + 1), 1, 1); });
    if (name == "fadd.i64" || name == "fadd.u64") return by_root([this] { add_to(1); });
    if (name == "barrier")
      return [this](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) barrier();
      };
    if (name == "exchange") return exchange(bytes);
    if (name == "hot_spot")
      return [this](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) add_to(0);
        barrier();
      };
    return {};
  }

 private:
  /// `bytes` from each rank to each, between two quarters of the window.
  Repeated exchange(std::size_t bytes) {
    if (bytes % sizeof(std::uint64_t) != 0 || bytes * size() > peers::max_bytes) return {};
    return [this, bytes](std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i)
        shmem_alltoall64(window_ + peers::max_bytes, window_, bytes / sizeof(std::uint64_t), 0, 0,
                         shmem_n_pes(), synced_[i % 2]);
      shmem_barrier_all();
    };
  }

  void add_to(int rank) {
    shmem_long_atomic_fetch_add(reinterpret_cast<long*>(shared_ + 1), 1, rank);
  }

  template <class One>
  Repeated by_root(One one) {
    return [this, one](std::uint64_t n) {
      for (std::uint64_t i = 0; rank() == 0 && i < n; ++i) one();
    };
  }
  template <class Begin>
  Repeated flood(std::size_t bytes, Begin begin) {
    return [this, bytes, begin](std::uint64_t n) {
      if (rank() == 0) peers::in_windows(n, bytes, begin, [] { shmem_quiet(); });
    };
  }

  char* window_;
  std::uint64_t* shared_;  ///< one word that the root hands on, and one that is added to
  const peers::Buffer buffer_;
  /// Two in turn, as the call needs them: one is free again when the next call has begun.
  inline static long synced_[2][SHMEM_ALLTOALL_SYNC_SIZE];
};

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  {
    Shmem shmem(argc);
    peers::measure(shmem, argc, argv);
  }
  shmem_barrier_all();
  // Not shmem_finalize, in which Open MPI 4.1.4 of Debian 12 crashes whatever the program has done.
  shmem_global_exit(0);
}
