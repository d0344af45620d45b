#pragma once
// The conformance suite: GoogleTest bodies that every rank of a job runs, together and in the same
// order, whatever the network, the number of ranks, the threading mode and the library.
//
// main() is the harness's. It starts the client, registers the handlers of every test file,
// attaches a segment and runs the tests with a barrier before and after each. A failure on any rank
// fails the job. A fatal failure (ASSERT_...) ends it at once, since other ranks may be waiting for
// the one that gave up; so does a wait that takes too long. The rank and the test are named.
//
// The bodies are compiled once, without a mode of their own: mode.cc gives each program its mode,
// and bodies that need threads report it (TEST_WITH_THREADS, TEST_IN_PAR).
//
// What a test may rely on: it starts with nothing in flight, and its ranks 0..size()-1 may be just
// one: next() is then the rank itself. What it must do: leave nothing in flight, and take the same
// collective steps on every rank.
//
//   static void count_request(gex_Token_t, gex_AM_Arg_t by);
//   static const Handlers handlers({{0, handler(count_request), GEX_FLAG_AM_SHORT |
//                                    GEX_FLAG_AM_REQUEST, 1, nullptr, "count_request"}});
//   TEST(Flow, CountsRequests) {
//     gex_AM_RequestShort(team(), next(), handlers[0], 0, 5);
//     WAIT_UNTIL(counted == 5);
//   }

#include <gasnetex.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace conformance {

/// Values of the headers when mode.cc was compiled: the program's threading mode,
/// GASNET_CONFIG_STRING and GASNETI_MAX_THREADS.
enum class Mode { seq, parsync, par };
extern const Mode mode;
extern const char* const config_string;
extern const int max_threads;

gex_Client_t client();
gex_EP_t endpoint();
gex_TM_t team();  ///< the primordial team
gex_Segment_t segment();

gex_Rank_t rank();
gex_Rank_t size();
gex_Rank_t next();      ///< (rank() + 1) % size()
gex_Rank_t previous();  ///< the rank whose next() this is

/// Bytes of every rank's segment that belong to the running test. Their contents are whatever the
/// tests before left there.
inline constexpr std::size_t segment_bytes = std::size_t{4} << 20;

/// Where they start, in the owner's addresses.
std::byte* segment_of(gex_Rank_t rank);
/// The caller's own.
std::byte* own_segment();

/// Waits for all ranks, polling.
void barrier();

/// One exchange of up to exchange_bytes per rank; collective. What rank r contributed is at
/// [r * size] of the result.
inline constexpr std::size_t exchange_bytes = 256;
std::vector<std::byte> gather_bytes(const void* contribution, std::size_t bytes);

/// Returns every rank's contribution, by rank. Collective.
template <typename T>
std::vector<T> gather(const T& contribution) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= exchange_bytes);
  const std::vector<std::byte> bytes = gather_bytes(&contribution, sizeof(T));
  std::vector<T> all(size());
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

/// The handlers of a test file, registered in one call before the first test. Entries whose index
/// is 0 receive one, the same on all ranks. Every instance is a static object.
class Handlers {
 public:
  Handlers(std::initializer_list<gex_AM_Entry_t> entries);
  explicit Handlers(std::vector<gex_AM_Entry_t> entries);
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

  /// Index of the n-th entry.
  gex_AM_Index_t operator[](std::size_t n) const { return entries_[n].gex_index; }
  const gex_AM_Entry_t& entry(std::size_t n) const { return entries_[n]; }

  /// The harness's.
  void add_to_endpoint();

 private:
  std::vector<gex_AM_Entry_t> entries_;
};

/// A handler of any signature as the interface stores it.
template <typename F>
gex_AM_Fn_t handler(F* function) {
  return reinterpret_cast<gex_AM_Fn_t>(function);
}

/// How long WAIT_UNTIL waits, in seconds: far longer than anything takes, less than a test's time
/// limit. The variable CONFORMANCE_PATIENCE overrides it, where tests are expected to fail so
/// (tests/mutation).
inline constexpr double patience_seconds = 40;

/// Ends the job; the line reports which condition did not come true.
[[noreturn]] void give_up(const char* condition, const char* file, int line);

/// True once the caller's patience is over.
class Patience {
 public:
  Patience();
  bool over() const;

 private:
  std::uint64_t end_;
};

/// Leaves a test out of programs whose mode has fewer threads than `least`: PARSYNC has several, of
/// which one at a time is in the library, and PAR any. Every instance is a static object.
class Needs {
 public:
  Needs(Mode least, const char* test);
};

/// Leaves a suite out of jobs of one rank. Every instance is a static object.
class NeedsPeers {
 public:
  explicit NeedsPeers(const char* suite);
};

}  // namespace conformance

/// TEST() of the programs that have several threads, and of those where any number of them may be
/// in the library at once.
#define TEST_WITH_THREADS(suite, name) TEST_THAT_NEEDS_(parsync, suite, name)
#define TEST_IN_PAR(suite, name) TEST_THAT_NEEDS_(par, suite, name)
#define TEST_THAT_NEEDS_(least, suite, name)                                           \
  static const ::conformance::Needs suite##_##name##_needs(::conformance::Mode::least, \
                                                           #suite "." #name);          \
  TEST(suite, name)

/// Polls until the condition holds. A failed wait ends the job. Any thread, not in handlers.
#define WAIT_UNTIL(condition)                                                 \
  do {                                                                        \
    const ::conformance::Patience patience;                                   \
    GASNET_BLOCKUNTIL((condition) || patience.over());                        \
    if (!(condition)) ::conformance::give_up(#condition, __FILE__, __LINE__); \
  } while (0)
