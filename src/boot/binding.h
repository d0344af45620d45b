#pragma once
// Which processors each rank of a host is bound to, decided before they are started.
//
// By default ranks get equal, disjoint shares of the processors that they may use, as whole
// physical cores where there are enough, neighbors in one cache (base/os_topology.h). Nothing is
// bound
//   - with one rank, whose share is all, and with more ranks than processors, which need the
//     scheduler;
//   - where somebody else binds: the launcher has an affinity of its own (taskset, numactl, mpirun,
//     srun), the command begins with such a program, or a variable of an OpenMP runtime names
//     processors. That a control group allows some processors only is no binding;
//   - where a processor of the shares is claimed by another job (core_claims.h): that job has the
//     whole machine in most cases, and beside it the scheduler finds more than a share of the rest
//     would be, above all when that job ends first.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boot/core_claims.h"

namespace gex::boot {

/// What ranks are to be bound to: nothing, the r-th rank of a host to its r-th processor, or each
/// to an equal share.
enum class Bind : std::uint8_t { none, core, share };

/// As --bind and GEX_BIND have it; none for another word.
std::optional<Bind> parse_bind(std::string_view word);

/// What a word must be for `parse_bind`, as messages say it.
inline constexpr const char* bind_words = "neither share, core nor none";

/// GEX_BIND, or the default. Ends the job on a malformed value.
Bind bind_of_environment();

/// What is known of this host, and of the job.
struct BindingFacts {
  Bind wanted = Bind::none;
  std::uint32_t ranks = 0;               ///< of this host
  std::vector<std::uint32_t> affinity;   ///< processors that the launcher may run on,
  std::vector<std::uint32_t> bindable;   ///< and those that it could be bound to; none: no binding
  std::uint32_t at_a_time = UINT32_MAX;  ///< processors' time that the control group has
  std::string program;                   ///< the command's first word
  std::string variable;                  ///< of an OpenMP runtime, that names processors
};

/// A decision: the processors of each rank of the host, in their order; none if no rank is bound,
/// and then why.
struct BindingPlan {
  std::vector<std::vector<std::uint32_t>> cores;
  std::string why_not;
};

/// Decides for these facts alone, without other jobs. `root` stands before paths of /sys.
BindingPlan plan_binding(const BindingFacts& facts, const std::string& root = "");

/// The variable of the environment with which an OpenMP runtime is told processors by their number;
/// "" if there is none.
std::string variable_that_names_processors();

/// The binding of this host's ranks. Keeps others from their processors as long as it exists; a
/// copy of it in a child must end there.
class Binding {
 public:
  Binding() = default;
  /// Decides. The calling thread has what ranks would inherit. `spare` is how many descriptors may
  /// be opened for it.
  Binding(Bind wanted, std::uint32_t ranks, std::string program, std::size_t spare);

  /// What the rank with this place on the host is bound to; empty: nothing.
  std::span<const std::uint32_t> cores_of(std::uint32_t index) const noexcept;

  /// What was done, or why nothing was, in a line: of these ranks, on that host.
  std::string describe(std::span<const std::uint32_t> ranks, const std::string& host) const;

 private:
  BindingPlan plan_;
  CoreClaims claims_;
};

}  // namespace gex::boot
