#include "client.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gexsim::test {

namespace {

/// Set in a process that has begun anew for a preset of this name.
constexpr const char* anew = "GEXSIM_TEST_ANEW";

void prepare(const Settings& settings) {
  setenv("FI_PROVIDER_PATH", GEXSIM_FOLDER, 1);
  setenv("FI_GEXSIM_PRESET", settings.preset.c_str(), 1);
  setenv("FI_GEXSIM_KNOBS", settings.knobs.c_str(), 1);
  setenv("FI_GEXSIM_SEED", "1", 0);
  for (const auto& [name, value] : settings.variables) setenv(name.c_str(), value.c_str(), 1);
}

/// Has libfabric load the provider, which takes longer than a test: children inherit it, and only
/// then its knobs are read.
void load_provider() {
  static const bool once = [] {
    prepare({.knobs = ""});
    setenv("FI_PROVIDER", "gexsim", 1);
    look_up([](fi_info& hints) {
      free(hints.fabric_attr->prov_name);
      hints.fabric_attr->prov_name = strdup("no such provider");
    });
    unsetenv("FI_PROVIDER");
    return true;
  }();
  static_cast<void>(once);
}

/// Runs the current test once more, in a process that has loaded nothing.
[[noreturn]] void begin_anew(const Settings& settings) {
  prepare(settings);
  setenv(anew, settings.preset.c_str(), 1);
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter =
      std::string("--gtest_filter=") + test.test_suite_name() + "." + test.name();
  execl("/proc/self/exe", "fabric_test", filter.c_str(), nullptr);
  _exit(127);
}

}  // namespace

int status_of(const Settings& settings, const std::function<void()>& body) {
  const char* const is_anew = std::getenv(anew);
  if (is_anew != nullptr) {
    if (settings.preset == is_anew) body();
    return 0;
  }
  const bool is_plain = settings.preset == "plain";
  if (is_plain) load_provider();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    // Libraries of providers print a stack of their own, and exit.
    std::signal(SIGABRT, SIG_DFL);
    if (!is_plain) begin_anew(settings);
    prepare(settings);
    body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

void run(const Settings& settings, const std::function<void()>& body) {
  EXPECT_EQ(status_of(settings, body), 0) << "with " << settings.preset << ", " << settings.knobs;
}

Info usual_hints() {
  Info hints(fi_allocinfo());
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  const char* preset = std::getenv("FI_GEXSIM_PRESET");
  const std::string name =
      preset == nullptr || std::strcmp(preset, "plain") == 0 ? "gexsim" : preset;
  hints->fabric_attr->prov_name = strdup(name.c_str());
  return hints;
}

Info look_up(const Ask& ask, int* error) {
  const Info hints = usual_hints();
  if (ask) ask(*hints);
  fi_info* info = nullptr;
  const int result = fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &info);
  if (error != nullptr) *error = result;
  return Info(result == 0 ? info : nullptr);
}

Client::Client(const Ask& ask, std::size_t queue_size, bool with_events)
    : Client(look_up(ask), queue_size, with_events) {
}

Client::Client(Info found, std::size_t queue_size, bool with_events) : info(std::move(found)) {
  open(queue_size, with_events);
}

void Client::open(std::size_t queue_size, bool with_events) {
  const auto opened = [this](int result, const char* what) {
    if (result == 0) return true;
    error = result;
    failed = what;
    return false;
  };
  if (!opened(info ? 0 : -FI_ENODATA, "fi_getinfo")) return;
  if (!opened(fi_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric")) return;
  if (!opened(fi_domain(fabric, info.get(), &domain, nullptr), "fi_domain")) return;
  fi_av_attr table{};
  if (!opened(fi_av_open(domain, &table, &addresses, nullptr), "fi_av_open")) return;
  fi_cq_attr size{};
  size.size = queue_size;
  size.format = FI_CQ_FORMAT_DATA;
  if (!opened(fi_cq_open(domain, &size, &queue, nullptr), "fi_cq_open")) return;
  if (!opened(fi_endpoint(domain, info.get(), &endpoint, nullptr), "fi_endpoint")) return;
  fi_ep_bind(endpoint, &addresses->fid, 0);
  fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV);
  if (with_events) {
    fi_eq_attr attributes{};
    if (!opened(fi_eq_open(fabric, &attributes, &events, nullptr), "fi_eq_open")) return;
    fi_ep_bind(endpoint, &events->fid, 0);
  }
  opened(fi_enable(endpoint), "fi_enable");
}

Client::~Client() {
  for (fid_mr* region : regions_) fi_close(&region->fid);
  if (endpoint != nullptr) fi_close(&endpoint->fid);
  if (events != nullptr) fi_close(&events->fid);
  if (queue != nullptr) fi_close(&queue->fid);
  if (addresses != nullptr) fi_close(&addresses->fid);
  if (domain != nullptr) fi_close(&domain->fid);
  if (fabric != nullptr) fi_close(&fabric->fid);
}

fi_addr_t Client::meet(const Client& other) {
  std::byte name[128];
  std::size_t size = sizeof name;
  fi_addr_t number = FI_ADDR_NOTAVAIL;
  if (other.endpoint == nullptr || fi_getname(&other.endpoint->fid, name, &size) != 0)
    return number;
  fi_av_insert(addresses, name, 1, &number, 0, nullptr);
  return number;
}

ssize_t Client::send(fi_addr_t to, const std::string& text, void* context, std::uint64_t flags) {
  sources_.push_back(std::make_unique<std::string>(text));
  iovec piece{sources_.back()->data(), text.size()};
  fi_msg message{};
  message.msg_iov = &piece;
  message.iov_count = 1;
  message.addr = to;
  message.context = context;
  return fi_sendmsg(endpoint, &message, flags);
}

ssize_t Client::receive(void* memory, std::size_t size, void* context, std::uint64_t flags) {
  iovec piece{memory, size};
  fi_msg message{};
  message.msg_iov = &piece;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = context;
  return fi_recvmsg(endpoint, &message, flags);
}

namespace {

/// How the provider names a place of a region that begins there.
std::uint64_t name_of(const fi_info& info, const void* place, const void* start) {
  const auto mode = static_cast<std::uint64_t>(info.domain_attr->mr_mode);
  const auto address = reinterpret_cast<std::uint64_t>(place);
  return (mode & FI_MR_VIRT_ADDR) != 0 ? address : address - reinterpret_cast<std::uint64_t>(start);
}

}  // namespace

ssize_t Client::write(fi_addr_t to, const void* from, std::size_t size, const fid_mr* target,
                      const void* place, void* context, std::uint64_t flags) {
  iovec local{const_cast<void*>(from), size};
  fi_rma_iov remote{name_of(*info, place, target->fid.context), size, target->key};
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.iov_count = 1;
  message.addr = to;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = context;
  return fi_writemsg(endpoint, &message, flags);
}

ssize_t Client::read(fi_addr_t from, void* into, std::size_t size, const fid_mr* target,
                     const void* place, void* context) {
  return fi_read(endpoint, into, size, nullptr, from, name_of(*info, place, target->fid.context),
                 target->key, context);
}

ssize_t Client::add(fi_addr_t to, std::uint64_t operand, std::uint64_t* former,
                    const fid_mr* target, const void* place) {
  return fi_fetch_atomic(endpoint, &operand, 1, nullptr, former, nullptr, to,
                         name_of(*info, place, target->fid.context), target->key, FI_UINT64, FI_SUM,
                         nullptr);
}

int Client::enroll(void* memory, std::size_t size, fid_mr*& made, bool binds) {
  // The context of a region of this client's is where it begins.
  const int result =
      fi_mr_reg(domain, memory, size,
                FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE | FI_SEND | FI_RECV, 0,
                next_key_++, 0, &made, memory);
  if (result != 0) return result;
  regions_.push_back(made);
  if (binds && (info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    fi_mr_bind(made, &endpoint->fid, 0);
    fi_mr_enable(made);
  }
  return 0;
}

std::vector<Entry> Client::poll() {
  std::vector<Entry> found;
  fi_cq_data_entry entries[16];
  const ssize_t read = fi_cq_read(queue, entries, 16);
  for (ssize_t i = 0; i < read; ++i) found.push_back({.data = entries[i], .error = 0});
  if (read == -FI_EAVAIL) {
    fi_cq_err_entry failure{};
    fi_cq_readerr(queue, &failure, 0);
    Entry entry;
    entry.data.op_context = failure.op_context;
    entry.data.flags = failure.flags;
    entry.data.len = failure.len;
    entry.error = failure.err;
    found.push_back(entry);
  } else if (read < 0 && read != -FI_EAGAIN) {
    found.push_back({.data = {}, .error = static_cast<int>(-read)});
  }
  return found;
}

std::vector<Entry> Client::wait_for(std::size_t count, const std::vector<Client*>& others) {
  std::vector<Entry> found;
  for (int turn = 0; turn < 10000 && found.size() < count; ++turn) {
    for (Client* other : others) other->poll();
    for (const Entry& entry : poll()) found.push_back(entry);
  }
  EXPECT_EQ(found.size(), count);
  return found;
}

Pair::Pair(const Ask& ask) : a(ask), b(ask), to_b(a.meet(b)), to_a(b.meet(a)) {
  EXPECT_EQ(a.failed + b.failed, "");
}

}  // namespace gexsim::test
