#pragma once
// The facts that gexinfo reports, gathered from the library's own state, apart from how it is
// printed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/os_memory.h"
#include "base/os_memory_limits.h"
#include "conduits.h"
#include "kinds/kinds.h"
#include "shm/neighborhood.h"

namespace gexinfo {

struct VersionFacts {
  std::string library;
  std::uint32_t abi;
  std::string gasnet_ex;     ///< of the specification
  std::string gasnet;        ///< of GASNet-1's
  std::string gasnet_tools;  ///< of the tools interface's
  std::string release;       ///< whose interface this is
  std::string compiler;
  bool checked;
};

struct JobFacts {
  std::uint32_t ranks;
  std::uint32_t hosts;
  std::uint32_t neighborhoods;
  std::string host;
  std::string started_by;  ///< "gexrun", "GASNET_PSHM_NODES" or "itself"
  std::uint32_t neighborhood_size;
  std::string neighborhood_reason;
  std::string conduit;
  std::string conduit_reason;
};

struct LimitFacts {
  std::uint32_t arguments;
  std::uint32_t first_handler;
  std::uint32_t last_handler;
  std::uint32_t ranks;
  std::uint32_t endpoints;  ///< of a client in a process
  std::uint64_t threads;    ///< of a process, inside the library at the same time
  /// Within this neighborhood.
  std::uint64_t medium;
  std::uint64_t long_message;
  std::uint64_t long_allocated;  ///< negotiated payload in memory of the library
  std::uint64_t outstanding;     ///< requests of one process that have no reply yet
  bool outstanding_to_all;       ///< that count is for all peers together, where rings are shared
};

struct ControlMemory {
  std::uint32_t members;
  gex::shm::ControlLayout layout;
};

struct MemoryFacts {
  std::string file;                         ///< "memfd", or the folder of the unlinked file
  std::optional<std::uint64_t> file_space;  ///< absent: only memory limits it
  std::vector<ControlMemory> control;       ///< for neighborhoods of several sizes, this job's too
  std::vector<gex::shm::SlabClass> slabs;   ///< of each process, all pools together
  std::uint64_t largest_segment;            ///< of each process
  std::string segment_reason;               ///< what set it
  std::string segment_wanted;               ///< the value of GASNET_MAX_SEGSIZE
  bool segment_wanted_is_default;
  std::uint64_t segment_wanted_bytes;  ///< what that means for each process
  bool segment_commit;
  gex::os::MemoryLimits limits;
  gex::os::HugePages huge_pages;
  /// For segments; absent where the mount options of the file's file system decide.
  std::optional<bool> huge_pages_used;
  std::uint64_t page;
};

struct MachineFacts {
  std::uint32_t online;
  std::vector<std::uint32_t> allowed;
  std::optional<double> cgroup_cpus;
  std::uint32_t usable;  ///< by the ranks of this host together
  std::uint32_t ranks_on_host;
  bool yields;  ///< a waiting rank yields at once: there are more ranks than cores
  std::string clock;
  std::string clock_reason;
};

/// A class of devices with memory.
struct DeviceClassFacts {
  std::string kind;  ///< "CUDA"
  std::vector<gex::kinds::DeviceFacts> devices;
  std::string driver;  ///< "libcuda.so.1 of CUDA 13.0"; empty: there is none
  std::string reason;  ///< why it has no devices
};

struct Facts {
  VersionFacts version;
  JobFacts job;
  Conduits conduits;
  LimitFacts limits;
  MemoryFacts memory;
  std::vector<DeviceClassFacts> device_memory;
  MachineFacts machine;
};

/// Parts of it.
JobFacts job();
LimitFacts limits();

/// Once this process has joined its job. `conduits`: as found before.
Facts gather(Conduits conduits);

}  // namespace gexinfo
