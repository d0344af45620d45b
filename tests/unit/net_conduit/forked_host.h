#pragma once
// A job for a conduit under test: forked processes and the `Host` that libgex would give them.
//
//   const Outcome outcome = run_ranks(2, {}, [](const Host& host) {
//     Limits limits;
//     ASSERT_EQ(conduit.attach(&host, &limits), 0);
//     ...
//   });
//   EXPECT_TRUE(outcome.succeeded()) << outcome.message;
//
// A rank succeeds when its body returns without a failed assertion. When one does not, the others
// are ended. Inside a body `current_handler` receives what the conduit delivers on this thread.

#include <gex/plugin/conduit.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gex::net::test {

struct JobOptions {
  bool threaded = false;
  /// The answers of env_integer; a name with "@RANK" holds for that rank only.
  std::map<std::string, std::int64_t> environment;
  /// The answers of env_text; null for others.
  std::map<std::string, std::string> texts;
  /// Host index of each rank; empty: all on host 0.
  std::vector<std::uint32_t> hosts;
  /// True if all ranks share memory, beside the conduit.
  bool shares_memory = false;
};

/// Exit status of a rank that called Host::fatal.
inline constexpr int fatal_status = 7;

struct Outcome {
  std::vector<int> statuses;  ///< exit status per rank; 128 + signal if it was killed
  std::string message;        ///< the first message through Host::fatal or Host::warn
  bool succeeded() const {
    for (const int status : statuses)
      if (status != 0) return false;
    return true;
  }
};

Outcome run_ranks(std::uint32_t ranks, const JobOptions& options,
                  const std::function<void(const Host&)>& body);

/// Waits for all ranks, without polling the conduit. Inside a body only.
void barrier();
/// As above, calling `turn` again and again until all have come.
void barrier(const std::function<void()>& turn);

/// The target of a one-sided operation: how often it was completed.
using Completion = std::atomic<int>;

using Handler = std::function<void(std::uint32_t, Channel, const void*, std::size_t)>;
extern thread_local Handler current_handler;

}  // namespace gex::net::test
