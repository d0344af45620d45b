// libfabric's own bandwidth, as fabtests' fi_rma_bw would find it, which Debian does not have:
// writes one after the other, a window of them under way, into the same memory of the other end.
//
//   gexperf-fi-flood PROVIDER BYTES COUNT PORT              the end that is written to
//   gexperf-fi-flood PROVIDER BYTES COUNT PORT ADDRESS      the end that writes, to the one there;
//                                                           prints the microseconds a write took
//
// The ends exchange their addresses over a connection to PORT, at which the first waits for the
// second.

#include <netdb.h>
#include <poll.h>
#include <rdma/fi_rma.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "net/ofi/fabric.h"

namespace {

using gex::net::ofi::error_text;
using gex::net::ofi::Fid;
using gex::net::ofi::Info;

/// Writes under way at once, as in fabtests.
constexpr std::size_t window = 64;

/// The message by which the end that is written to describes itself.
struct Target {
  std::uint64_t key;
  std::uint64_t address;
  std::uint64_t name_size;
  std::array<std::byte, 256> name;
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "gexperf-fi-flood: %s\n", what.c_str());
  std::exit(1);
}

template <class T>
Fid<T> made(long result, T* const& object, const char* what) {
  if (result != 0) fail(std::string(what) + ": " + error_text(result));
  return Fid<T>(object);
}

void succeeded(long result, const char* what) {
  if (result != 0) fail(std::string(what) + ": " + error_text(result));
}

/// A connection of the two ends, at whose other end is ADDRESS, or the process that connects.
int meet(const char* address, const char* port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = address == nullptr ? AI_PASSIVE : 0;
  addrinfo* found = nullptr;
  if (getaddrinfo(address, port, &hints, &found) != 0) fail("no address");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, freeaddrinfo);
  const int one = 1;
  const int made = socket(found->ai_family, found->ai_socktype, 0);
  setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (address != nullptr) {
    // The process that starts this end does so again until the other end listens.
    if (connect(made, found->ai_addr, found->ai_addrlen) != 0)
      fail("no process listens at the other end's address and port");
    return made;
  }
  if (bind(made, found->ai_addr, found->ai_addrlen) != 0 || listen(made, 1) != 0)
    fail(std::string("port ") + port + ": " + std::strerror(errno));
  const int accepted = accept(made, nullptr, nullptr);
  close(made);
  return accepted;
}

/// The address by which the other end reaches this one.
std::string own_address(int peer) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  char text[NI_MAXHOST] = "";
  getsockname(peer, reinterpret_cast<sockaddr*>(&own), &size);
  getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof text, nullptr, 0,
              NI_NUMERICHOST);
  return text;
}

/// An endpoint and what it stands on; in the order in which they stand on one another.
class Endpoint {
 public:
  Endpoint(const char* provider, const std::string& address) {
    const Info hints(fi_allocinfo());
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->fabric_attr->prov_name = strdup(provider);
    fi_info* info = nullptr;
    succeeded(fi_getinfo(gex::net::ofi::asked_version(fi_version()), address.c_str(), nullptr,
                         FI_SOURCE, hints.get(), &info),
              provider);
    info_.reset(info);
    fid_fabric* fabric = nullptr;
    fabric_ = made(fi_fabric(info->fabric_attr, &fabric, nullptr), fabric, "fi_fabric");
    fid_domain* domain = nullptr;
    domain_ = made(fi_domain(fabric, info, &domain, nullptr), domain, "fi_domain");
    fi_av_attr names{};
    fid_av* peers = nullptr;
    peers_ = made(fi_av_open(domain, &names, &peers, nullptr), peers, "fi_av_open");
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_CONTEXT;
    queue.size = 2 * window;
    fid_cq* completions = nullptr;
    completions_ =
        made(fi_cq_open(domain, &queue, &completions, nullptr), completions, "fi_cq_open");
    fid_ep* endpoint = nullptr;
    endpoint_ = made(fi_endpoint(domain, info, &endpoint, nullptr), endpoint, "fi_endpoint");
    succeeded(fi_ep_bind(endpoint, &peers->fid, 0), "fi_ep_bind");
    succeeded(fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    succeeded(fi_enable(endpoint), "fi_enable");
  }

  void add_memory(std::size_t bytes) {
    memory_.resize(bytes);
    fid_mr* region = nullptr;
    region_ = made(fi_mr_reg(domain_.get(), memory_.data(), bytes, FI_WRITE | FI_REMOTE_WRITE, 0, 1,
                             0, &region, nullptr),
                   region, "fi_mr_reg");
  }

  Target describe() {
    Target target{};
    target.key = fi_mr_key(region_.get());
    if ((info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0)
      target.address = reinterpret_cast<std::uint64_t>(memory_.data());
    target.name_size = target.name.size();
    succeeded(fi_getname(&endpoint_->fid, target.name.data(), &target.name_size), "fi_getname");
    return target;
  }

  fi_addr_t learn(const Target& target) {
    fi_addr_t address = FI_ADDR_UNSPEC;
    if (fi_av_insert(peers_.get(), target.name.data(), 1, &address, 0, nullptr) != 1)
      fail("fi_av_insert");
    return address;
  }

  /// Moves what is under way; `free` receives the contexts of what has ended.
  void poll(std::vector<fi_context2*>& free) {
    fi_cq_entry entries[window];
    const ssize_t read = fi_cq_read(completions_.get(), entries, window);
    if (read < 0 && read != -FI_EAGAIN) fail("fi_cq_read: " + error_text(read));
    for (ssize_t i = 0; i < read; ++i)
      free.push_back(static_cast<fi_context2*>(entries[i].op_context));
  }

  /// Returns true if it was taken.
  bool write(fi_addr_t to, const Target& target, fi_context2& context, bool until_there) {
    iovec from{memory_.data(), memory_.size()};
    fi_rma_iov there{target.address, memory_.size(), target.key};
    void* descriptor = fi_mr_desc(region_.get());
    fi_msg_rma message{};
    message.msg_iov = &from;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = to;
    message.rma_iov = &there;
    message.rma_iov_count = 1;
    message.context = &context;
    const ssize_t result = fi_writemsg(endpoint_.get(), &message,
                                       FI_COMPLETION | (until_there ? FI_DELIVERY_COMPLETE : 0));
    if (result != 0 && result != -FI_EAGAIN) fail("fi_writemsg: " + error_text(result));
    return result == 0;
  }

 private:
  Info info_;
  Fid<fid_fabric> fabric_;
  Fid<fid_domain> domain_;
  Fid<fid_av> peers_;
  Fid<fid_cq> completions_;
  std::vector<std::byte> memory_;
  Fid<fid_mr> region_;
  Fid<fid_ep> endpoint_;
};

/// Until the other end has nothing more to write.
void be_written_to(Endpoint& endpoint, int peer) {
  const Target target = endpoint.describe();
  if (send(peer, &target, sizeof target, MSG_NOSIGNAL) != sizeof target) fail("the other is gone");
  pollfd end{peer, POLLIN, 0};
  std::vector<fi_context2*> none;
  do {
    for (int i = 0; i < 1000; ++i) endpoint.poll(none);
  } while (poll(&end, 1, 0) == 0);
}

void flood(Endpoint& endpoint, fi_addr_t to, const Target& target, std::size_t count) {
  std::vector<fi_context2> contexts(window);
  std::vector<fi_context2*> free;
  free.reserve(window);
  for (fi_context2& context : contexts) free.push_back(&context);
  std::size_t begun = 0;
  while (begun < count || free.size() < window) {
    if (begun < count && !free.empty() &&
        endpoint.write(to, target, *free.back(), begun + 1 == count)) {
      free.pop_back();
      ++begun;
    } else {
      endpoint.poll(free);
    }
  }
}

void write_to(Endpoint& endpoint, int peer, std::size_t count) {
  Target target{};
  if (recv(peer, &target, sizeof target, MSG_WAITALL) != sizeof target) fail("the other is gone");
  const fi_addr_t to = endpoint.learn(target);
  flood(endpoint, to, target, std::max<std::size_t>(count / 10, window));
  using Clock = std::chrono::steady_clock;
  const Clock::time_point before = Clock::now();
  flood(endpoint, to, target, count);
  const std::chrono::duration<double, std::micro> passed = Clock::now() - before;
  std::printf("%.4f\n", passed.count() / static_cast<double>(count));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) fail("gexperf starts this program; it is of no use alone");
  const std::size_t bytes = std::strtoull(argv[2], nullptr, 10);
  const std::size_t count = std::strtoull(argv[3], nullptr, 10);
  if (bytes == 0 || count == 0) fail("nothing to write");
  const bool writes = argc == 6;
  const int peer = meet(writes ? argv[5] : nullptr, argv[4]);
  if (peer < 0) fail("the other end has not connected");
  Endpoint endpoint(argv[1], own_address(peer));
  endpoint.add_memory(bytes);
  if (writes)
    write_to(endpoint, peer, count);
  else
    be_written_to(endpoint, peer);
  close(peer);
  return 0;
}
