#pragma once
// The process manager of a foreign launcher, as far as joining a job needs it: rank, size, and a
// key-value store.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gex::job {

/// Which processes read a value.
enum class Reach : std::uint8_t {
  node,  ///< those of the same node, as the launcher numbers nodes
  job,
};

/// Thread rules: one thread, but for `leave`.
class ProcessManager {
 public:
  virtual ~ProcessManager() = default;

  /// The name of its protocol, for messages.
  virtual const char* protocol() const noexcept = 0;
  virtual std::uint32_t rank() const noexcept = 0;
  virtual std::uint32_t size() const noexcept = 0;

  /// The number of each rank's node, by the launcher's account; empty if it has none.
  virtual std::vector<std::uint32_t> node_of_ranks() = 0;

  /// Publishes a value of at most 1000 letters, digits and ".:,/-_". It can be read after the next
  /// `fence` of that reach. Returns false on failure; `error` is the reason.
  virtual bool put(const std::string& key, const std::string& value, Reach reach) = 0;
  /// Collective over all processes of the launcher's job. `reach`: the widest of the values that
  /// have been put since the last one; a fence of reach `node` moves no values between nodes.
  virtual bool fence(Reach reach) = 0;
  /// The value that `rank` has published under the key.
  virtual std::optional<std::string> get(std::uint32_t rank, const std::string& key) = 0;

  /// Finalizes, before this process ends: launchers treat an end without that as a failure.
  virtual void leave() noexcept = 0;

  const std::string& error() const noexcept { return error_; }

 protected:
  std::string error_;
};

/// The process manager that this process was started under, by its environment; null if there is
/// none. Null with a reason in `why` if the launcher has started several processes and its process
/// manager is unusable.
std::unique_ptr<ProcessManager> find_process_manager(std::string& why);

/// Milliseconds that a process waits for the others of the launcher's job before it reports that.
inline constexpr int long_wait_ms = 10'000;

/// Warns, once for each host, that this process is still waiting.
void report_long_wait(const char* protocol, std::uint32_t rank, std::uint32_t size);

/// Removes the variables that name a process manager, so that programs that this process executes
/// do not act as processes of the launcher.
void forget_process_manager();

/// PMI-1 and PMI-2 over the descriptor PMI_FD: MPICH's Hydra and its descendants, Slurm.
struct PmiPlace;
std::unique_ptr<ProcessManager> connect_pmi1(const PmiPlace& place, std::string& why);
std::unique_ptr<ProcessManager> connect_pmi2(const PmiPlace& place, std::string& why);

/// PMIx, by libpmix, which this function loads: Open MPI, PRRTE, Slurm.
std::unique_ptr<ProcessManager> connect_pmix(std::string& why);

}  // namespace gex::job
