#pragma once
// The binding of a host's ranks to processors, decided before they are started.
//
// By default ranks get equal, disjoint shares of the processors that they may use, as whole
// physical cores where there are enough, neighbors in one cache (base/os_topology.h). Nothing is
// bound
//   - with one rank, whose share is all processors, and with more ranks than processors, which the
//     scheduler must distribute;
//   - if the user binds: the launcher has a restricted affinity (by taskset, numactl, mpirun or
//     srun), the command begins with such a program, or a variable of an OpenMP runtime names
//     processors. A control group's restriction to some processors is not a binding;
//   - if another job has claimed a processor of the shares (core_claims.h). Usually that job uses
//   the
//     whole machine, and the scheduler does better than a fixed share, above all once that job
//     ends.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launch/bind.h"
#include "launch/local/core_claims.h"

namespace gex::launch {

/// Parses a value of --bind or GEX_BIND; empty if it is invalid.
std::optional<Bind> parse_bind(std::string_view word);

/// The text of messages about a word that `parse_bind` refuses.
inline constexpr const char* bind_words = "neither share, core nor none";

/// GEX_BIND, or the default. Ends the job on a malformed value.
Bind bind_of_environment();

/// The facts about this host and the job on which a binding depends.
struct BindingFacts {
  Bind wanted = Bind::none;
  std::uint32_t ranks = 0;               ///< number of the host's ranks
  std::vector<std::uint32_t> affinity;   ///< processors that the launcher may run on
  std::vector<std::uint32_t> bindable;   ///< processors that it could be bound to
  std::uint32_t at_a_time = UINT32_MAX;  ///< processors' worth of time that the control group has
  std::string program;                   ///< the command's first word
  std::string variable;                  ///< variable of an OpenMP runtime that names processors
};

/// A decision: the processors of each of the host's ranks in order, or, if no rank is bound, an
/// empty list and the reason.
struct BindingPlan {
  std::vector<std::vector<std::uint32_t>> cores;
  std::string why_not;
};

/// Decides by these facts, without regard to other jobs. `root` is a prefix of paths in /sys.
BindingPlan plan_binding(const BindingFacts& facts, const std::string& root = "");

/// The environment variable, if set, by which an OpenMP runtime binds threads to numbered
/// processors; otherwise "".
std::string variable_that_names_processors();

/// The binding of this host's ranks. Claims their processors during its lifetime, for other jobs to
/// see. A forked child must destroy its copy.
class Binding {
 public:
  Binding() = default;
  /// Decides and claims. Uses the affinity of the calling thread, which ranks would inherit.
  /// `spare` is how many descriptors it may open.
  Binding(Bind wanted, std::uint32_t ranks, std::string program, std::size_t spare);

  /// The processors of the `index`-th rank of the host; empty if it is not bound.
  std::span<const std::uint32_t> cores_of(std::uint32_t index) const noexcept;

  /// A line for users about the binding of these ranks on this host, or the reason for none.
  std::string describe(std::span<const std::uint32_t> ranks, const std::string& host) const;

 private:
  BindingPlan plan_;
  CoreClaims claims_;
};

}  // namespace gex::launch
