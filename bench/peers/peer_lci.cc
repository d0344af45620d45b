// The operations of LCI (github.com/uiuc-hpc/lci): active messages, and its barrier.
//
//   mpirun.mpich -n 2 -bind-to core peer_lci am.flood:8,4096
//   peer_lci --version

#include <lci.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "measure.h"

namespace {

using peers::Repeated;

/// Messages that have arrived. The handler runs in calls of `progress`, of one thread.
std::uint64_t arrived = 0;

void on_message(lci::status_t status) {
  std::free(status.buffer);
  ++arrived;
}

class Lci final : public peers::Library {
 public:
  explicit Lci(int argc)
      : buffer_(peers::buffer_for(argc)),
        handler_(lci::alloc_handler(on_message)),
        remote_(lci::register_rcomp(handler_)) {
    barrier();
  }
  Lci(const Lci&) = delete;
  Lci& operator=(const Lci&) = delete;
  ~Lci() override {
    barrier();
    lci::deregister_rcomp(remote_);
    lci::free_comp(&handler_);
  }

  unsigned rank() const override { return static_cast<unsigned>(lci::get_rank_me()); }
  unsigned size() const override { return static_cast<unsigned>(lci::get_rank_n()); }
  void barrier() override { lci::barrier(); }
  std::uint64_t from_root(std::uint64_t value) override {
    lci::broadcast(&value, sizeof value, 0);
    return value;
  }

  Repeated operation(const std::string& name, std::size_t bytes) override {
    if (name == "barrier")
      return [this](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) barrier();
      };
    // Longer ones go by a rendezvous, whose completion would be waited for.
    if (bytes > lci::get_max_bcopy_size()) return {};
    if (name == "am.rtt") return [this, bytes](std::uint64_t n) { ping_pong(n, bytes); };
    if (name == "am.flood") return [this, bytes](std::uint64_t n) { flood(n, bytes); };
    if (name == "am.all")
      return [this, bytes](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
          for (unsigned next = 1; next < size(); ++next) send((rank() + next) % size(), bytes);
        }
        wait_for(n * (size() - 1));
        barrier();
      };
    if (name == "ring")
      return [this, bytes](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
          send((rank() + 1) % size(), bytes);
          wait_for(1);
        }
        barrier();
      };
    return {};
  }

 private:
  void send(unsigned to, std::size_t bytes) {
    while (lci::post_am(static_cast<int>(to), buffer_.data(), bytes, lci::COMP_NULL, remote_)
               .is_retry())
      lci::progress();
  }
  void wait_for(std::uint64_t messages) {
    awaited_ += messages;
    while (arrived < awaited_) lci::progress();
  }

  void ping_pong(std::uint64_t n, std::size_t bytes) {
    for (std::uint64_t i = 0; rank() < 2 && i < n; ++i) {
      if (rank() == 0) send(1, bytes);
      wait_for(1);
      if (rank() == 1) send(0, bytes);
    }
  }

  /// From rank 0 to rank 1, whose answer shows that all have arrived.
  void flood(std::uint64_t n, std::size_t bytes) {
    if (rank() == 0) {
      for (std::uint64_t i = 0; i < n; ++i) send(1, bytes);
      wait_for(1);
    } else if (rank() == 1) {
      wait_for(n);
      send(0, 0);
    }
  }

  const peers::Buffer buffer_;
  lci::comp_t handler_;
  lci::rcomp_t remote_;
  std::uint64_t awaited_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("LCI %s\n", LCI_VERSION_FULL);
    return 0;
  }
  lci::g_runtime_init();
  {
    Lci lci(argc);
    peers::measure(lci, argc, argv);
  }
  lci::g_runtime_fina();
  return 0;
}
