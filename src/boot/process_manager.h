#pragma once
// What another launcher than gexrun offers the processes it has started: who am I, how many are we,
// and a table in which they can leave one another a few words. Only what joining a job needs.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace gex::boot {

/// Thread rules: one thread, but for `leave`.
class ProcessManager {
 public:
  virtual ~ProcessManager() = default;

  /// What it speaks, for messages.
  virtual const char* protocol() const noexcept = 0;
  virtual std::uint32_t rank() const noexcept = 0;
  virtual std::uint32_t size() const noexcept = 0;

  /// Leaves a value of at most 1000 letters, digits and ".:,/-_" for the others. What was left
  /// before `fence` can be read after it. False: `error` says why.
  virtual bool put(const std::string& key, const std::string& value) = 0;
  /// Collective over all processes of the launcher's job.
  virtual bool fence() = 0;
  /// What `rank` has left under the key.
  virtual std::optional<std::string> get(std::uint32_t rank, const std::string& key) = 0;

  /// This process ends, and as it should: launchers take one that goes without a word for dead.
  virtual void leave() noexcept = 0;

  const std::string& error() const noexcept { return error_; }

 protected:
  std::string error_;
};

/// The process manager that this process was started under, by its environment. Null when there is
/// none; with a text in `why` when there is one, of which this process is one of several, that
/// cannot be spoken to.
std::unique_ptr<ProcessManager> find_process_manager(std::string& why);

/// How long a process waits for the others of the launcher's job before it says so.
inline constexpr int long_wait_ms = 10'000;

/// Says, once on a host, that this process is still waiting.
void tell_of_long_wait(const char* protocol, std::uint32_t rank, std::uint32_t size);

/// Removes from the environment what names one: a program executed from here on is no process of
/// the launcher's.
void forget_process_manager();

/// PMI-1 and PMI-2, whose wire is the descriptor PMI_FD: MPICH's Hydra and its descendants, Slurm.
struct PmiPlace;
std::unique_ptr<ProcessManager> connect_pmi1(const PmiPlace& place, std::string& why);
std::unique_ptr<ProcessManager> connect_pmi2(const PmiPlace& place, std::string& why);

/// PMIx, by libpmix, which is loaded here: Open MPI, PRRTE, Slurm.
std::unique_ptr<ProcessManager> connect_pmix(std::string& why);

}  // namespace gex::boot
