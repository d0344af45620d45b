// PMIx by libpmix, which is loaded only if the launcher offers PMIx.

#include "job/process_manager.h"

#if __has_include(<pmix.h>)

#include <dlfcn.h>
#include <pmix.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/os_process.h"
#include "job/limits.h"

namespace gex::job {

namespace {

/// The functions of libpmix that are used.
struct Library {
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Fence_nb) fence;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Error_string) error_string;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool load(Library& found, std::string& why) {
  if (os::is_linked_static()) {
    why =
        "the launcher offers PMIx, for which libpmix has to be loaded, and this program is linked "
        "with "
        "-static: link it with libgex.a alone, without -static, or start it with gexrun";
    return false;
  }
  // Never unloaded, because it starts a thread.
  void* const library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    why = std::string("libpmix cannot be loaded: ") + (reason != nullptr ? reason : "unknown");
    return false;
  }
  if (find(library, "PMIx_Init", found.init) && find(library, "PMIx_Finalize", found.finalize) &&
      find(library, "PMIx_Put", found.put) && find(library, "PMIx_Commit", found.commit) &&
      find(library, "PMIx_Fence_nb", found.fence) && find(library, "PMIx_Get", found.get) &&
      find(library, "PMIx_Error_string", found.error_string)) {
    return true;
  }
  why = "libpmix lacks a function of PMIx 2";
  return false;
}

/// Frees a result of PMIx_Get. PMIX_VALUE_RELEASE of pmix.h would need libpmix's functions.
struct ReleaseValue {
  void operator()(pmix_value_t* value) const noexcept {
    if (value->type == PMIX_STRING) std::free(value->data.string);
    std::free(value);
  }
};
using Value = std::unique_ptr<pmix_value_t, ReleaseValue>;

/// A pending fence, which libpmix's thread completes.
class Fence {
 public:
  static void complete(pmix_status_t status, void* fence) {
    auto& self = *static_cast<Fence*>(fence);
    const std::lock_guard lock(self.mutex_);
    self.status_ = status;
    self.completed_ = true;
    // Under the lock: the waiting thread may destroy this object right after it is released.
    self.changed_.notify_one();
  }
  /// Waits for at most that long. Returns whether the fence is complete.
  bool wait(int milliseconds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(milliseconds),
                             [this] { return completed_; });
  }
  pmix_status_t wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return completed_; });
    return status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool completed_ = false;
  pmix_status_t status_ = PMIX_SUCCESS;
};

class Pmix final : public ProcessManager {
 public:
  explicit Pmix(const Library& library) : library_(library) {}

  bool begin() {
    if (!holds("PMIx_Init", library_.init(&self_, nullptr, 0))) return false;
    pmix_proc_t job = self_;
    job.rank = PMIX_RANK_WILDCARD;
    pmix_value_t* got = nullptr;
    if (!holds("PMIx_Get of the job's size", library_.get(&job, PMIX_JOB_SIZE, nullptr, 0, &got))) {
      return false;
    }
    const Value value(got);
    size_ = value->type == PMIX_UINT32 ? value->data.uint32 : 0;
    if (self_.rank < size_ && size_ <= max_ranks) return true;
    error_ = "rank " + std::to_string(self_.rank) + " of " + std::to_string(size_) +
             " is not the rank of one of up to " + std::to_string(max_ranks) + " processes";
    return false;
  }

  const char* protocol() const noexcept override { return "PMIx"; }
  std::uint32_t rank() const noexcept override { return self_.rank; }
  std::uint32_t size() const noexcept override { return size_; }

  std::vector<std::uint32_t> node_of_ranks() override {
    std::vector<std::uint32_t> nodes(size_);
    pmix_proc_t peer = self_;
    for (peer.rank = 0; peer.rank < size_; ++peer.rank) {
      pmix_value_t* got = nullptr;
      if (library_.get(&peer, PMIX_NODEID, nullptr, 0, &got) != PMIX_SUCCESS) return {};
      const Value value(got);
      if (value->type != PMIX_UINT32) return {};
      nodes[peer.rank] = value->data.uint32;
    }
    return nodes;
  }

  bool put(const std::string& key, const std::string& value, Reach reach) override {
    pmix_value_t given{};
    given.type = PMIX_STRING;
    given.data.string = const_cast<char*>(value.c_str());
    return holds("PMIx_Put", library_.put(reach == Reach::node ? PMIX_LOCAL : PMIX_GLOBAL,
                                          ("gex." + key).c_str(), &given));
  }

  bool fence(Reach reach) override {
    if (!holds("PMIx_Commit", library_.commit())) return false;
    // Each node's server gets what all processes have put for the job, so that PMIx_Get needs no
    // communication.
    pmix_info_t collect{};
    std::strncpy(collect.key, PMIX_COLLECT_DATA, sizeof collect.key - 1);
    collect.value.type = PMIX_BOOL;
    collect.value.data.flag = reach == Reach::job;
    Fence fence;
    const pmix_status_t begun = library_.fence(nullptr, 0, &collect, 1, Fence::complete, &fence);
    if (begun == PMIX_OPERATION_SUCCEEDED) return true;
    if (begun != PMIX_SUCCESS) return holds("PMIx_Fence", begun);
    if (!fence.wait(long_wait_ms)) report_long_wait(protocol(), self_.rank, size_);
    return holds("PMIx_Fence", fence.wait());
  }

  std::optional<std::string> get(std::uint32_t rank, const std::string& key) override {
    pmix_proc_t peer = self_;
    peer.rank = rank;
    pmix_value_t* got = nullptr;
    if (!holds("PMIx_Get", library_.get(&peer, ("gex." + key).c_str(), nullptr, 0, &got))) {
      return std::nullopt;
    }
    const Value value(got);
    if (value->type != PMIX_STRING || value->data.string == nullptr) {
      error_ = "PMIx_Get: the published value is not text";
      return std::nullopt;
    }
    return value->data.string;
  }

  /// libpmix counts initializations, those of an MPI library in this program too.
  void leave() noexcept override { library_.finalize(nullptr, 0); }

 private:
  bool holds(const char* what, pmix_status_t status) {
    if (status == PMIX_SUCCESS) return true;
    error_ = std::string(what) + ": " + library_.error_string(status);
    return false;
  }

  Library library_;
  pmix_proc_t self_{};
  std::uint32_t size_ = 0;
};

}  // namespace

std::unique_ptr<ProcessManager> connect_pmix(std::string& why) {
  Library library{};
  if (!load(library, why)) return nullptr;
  auto connected = std::make_unique<Pmix>(library);
  if (connected->begin()) return connected;
  why = "PMIx: " + connected->error();
  return nullptr;
}

}  // namespace gex::job

#else

namespace gex::job {

std::unique_ptr<ProcessManager> connect_pmix(std::string& why) {
  why = "the launcher offers PMIx, for which this libgex was built without the headers";
  return nullptr;
}

}  // namespace gex::job

#endif
