#pragma once
// A naive client of libfabric: it takes the first answer, posts, and reads completions. Two of one
// process reach each other as those of two do, and nothing moves but when a test has one of them
// poll; so each behaviour is seen step by step.

#include <gtest/gtest.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gexsim::test {

/// How a process is to find the provider.
struct Settings {
  std::string knobs;
  std::string preset = "plain";
  std::vector<std::pair<std::string, std::string>> variables = {};
};

/// Runs the body in a process of its own, since the provider reads its knobs once. Its wait status,
/// which is not 0 either where an expectation failed. With another preset than "plain" the current
/// test is run once more for it, in a new process, and all else that it does is left out.
int status_of(const Settings& settings, const std::function<void()>& body);
/// Expects all expectations of the body to hold.
void run(const Settings& settings, const std::function<void()>& body);

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;
using Ask = std::function<void(fi_info& hints)>;

/// The hints of a client, before `ask` changes them.
Info usual_hints();
/// The answer to the usual hints; null, and `error`, if there is none.
Info look_up(const Ask& ask = {}, int* error = nullptr);

struct Entry {
  fi_cq_data_entry data{};
  int error = 0;
};

class Client {
 public:
  /// Opens everything, as far as it goes: `error` and `failed` show where it ended.
  explicit Client(const Ask& ask = {}, std::size_t queue = 4096, bool with_events = false);
  explicit Client(Info info, std::size_t queue = 4096, bool with_events = false);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  fi_addr_t meet(const Client& other);

  ssize_t send(fi_addr_t to, const std::string& text, void* context = nullptr,
               std::uint64_t flags = FI_COMPLETION);
  ssize_t receive(void* memory, std::size_t size, void* context = nullptr, std::uint64_t flags = 0);
  ssize_t write(fi_addr_t to, const void* from, std::size_t size, const fid_mr* target,
                const void* place, void* context = nullptr, std::uint64_t flags = FI_COMPLETION);
  ssize_t read(fi_addr_t from, void* into, std::size_t size, const fid_mr* target,
               const void* place, void* context = nullptr);
  ssize_t add(fi_addr_t to, std::uint64_t operand, std::uint64_t* former, const fid_mr* target,
              const void* place);

  /// 0, or libfabric's error.
  int enroll(void* memory, std::size_t size, fid_mr*& made, bool binds = true);

  /// One reading of the queue.
  std::vector<Entry> poll();
  /// Until this many completions have come, while others poll too; fails after many polls.
  std::vector<Entry> wait_for(std::size_t count, const std::vector<Client*>& others = {});

  Info info;
  int error = 0;
  std::string failed;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* addresses = nullptr;
  fid_cq* queue = nullptr;
  fid_eq* events = nullptr;
  fid_ep* endpoint = nullptr;

 private:
  void open(std::size_t queue_size, bool with_events);
  std::vector<fid_mr*> regions_;
  std::uint64_t next_key_ = 1;
  std::vector<std::unique_ptr<std::string>> sources_;
};

/// Two that have met.
struct Pair {
  explicit Pair(const Ask& ask = {});
  Client a, b;
  fi_addr_t to_b, to_a;
};

}  // namespace gexsim::test
