#pragma once
// Other programs that want the processors, as `gexperf busy` measures beside them.

#include <sys/types.h>

#include <string>
#include <vector>

namespace gexperf {

/// Processes that compute until the end of the object's life, or of gexperf's.
class Load {
 public:
  /// So many that do nothing but compute, each in a session of its own: the kernel schedules
  /// sessions as groups (autogroup), as it does other users' programs.
  static Load spinning(unsigned processes);
  /// The load of a machine in use: a dozen sessions of four processes, which compute, sleep and
  /// wake, and make further processes.
  static Load mixed();

  Load(Load&& other) noexcept = default;
  Load& operator=(Load&&) = delete;
  ~Load();

  /// Why it could not all be started; empty: it was.
  const std::string& trouble() const { return trouble_; }

 private:
  Load() = default;
  void start(unsigned in_session, void (*act)(unsigned number));

  std::vector<pid_t> sessions_;  ///< their leaders
  std::string trouble_;
};

/// A control group that gives all its processes together one processor's time, until the end of the
/// object's life.
class ProcessorQuota {
 public:
  ProcessorQuota();
  ProcessorQuota(const ProcessorQuota&) = delete;
  ProcessorQuota& operator=(const ProcessorQuota&) = delete;
  ~ProcessorQuota();

  /// Why there is none, as where this process may not make groups; empty: there is one.
  const std::string& trouble() const { return trouble_; }
  /// A command that is run within it.
  std::vector<std::string> within(const std::vector<std::string>& command) const;

 private:
  std::string folder_;  ///< empty: there is none
  std::string trouble_;
};

}  // namespace gexperf
