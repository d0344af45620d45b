#include "conformance.h"

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace conformance {

namespace {

constexpr std::size_t max_ranks = 64;
/// Two generations, so that one exchange may start while others still read the one before.
constexpr std::size_t exchange_area = 2 * max_ranks * exchange_bytes;
constexpr std::size_t attached_bytes = segment_bytes + exchange_area;

struct Job {
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t endpoint = GEX_EP_INVALID;
  gex_TM_t team = GEX_TM_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  std::vector<std::byte*> segments;  ///< by rank, in the owner's addresses
  unsigned generation = 0;
};
Job job;

std::vector<Handlers*>& handler_tables() {
  static std::vector<Handlers*> tables;
  return tables;
}

/// Names of the tests that the program's mode leaves out, each behind a colon.
std::string& left_out() {
  static std::string names;
  return names;
}

/// The suites that jobs of one rank leave out, likewise.
std::string& left_out_alone() {
  static std::string names;
  return names;
}

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

[[noreturn]] void fail_job(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
  std::fflush(stdout);
  gasnet_exit(1);
}

/// GoogleTest's own record is locked while it reports a failure.
std::string current_test = "between tests";

/// Reports which rank a failure belongs to, and ends the job where the others would wait for ever.
class FailureReport : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::string line = "rank " + std::to_string(rank()) + " of " + std::to_string(size()) + ", " +
                       current_test + ": " +
                       (result.file_name() == nullptr ? "?" : result.file_name()) + ":" +
                       std::to_string(result.line_number()) + ": " + result.message();
    if (result.fatally_failed()) fail_job(line);
    std::fprintf(stderr, "%s\n", line.c_str());
  }
};

class Together : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    barrier();
    current_test = std::string(test.test_suite_name()) + "." + test.name();
  }
  void OnTestEnd(const testing::TestInfo&) override {
    barrier();
    current_test = "between tests";
  }
};

void start(int* argc, char*** argv) {
  // One client for the tests of both interfaces.
  if (gex_Client_Init(&job.client, &job.endpoint, &job.team, "CONFORMANCE", argc, argv,
                      GEX_FLAG_USES_GASNET1) != GASNET_OK) {
    std::fputs("conformance: gex_Client_Init failed\n", stderr);
    std::exit(1);
  }
  if (size() > max_ranks) fail_job("conformance: more than 64 ranks");
  for (Handlers* table : handler_tables()) table->add_to_endpoint();
  if (gex_Segment_Attach(&job.segment, job.team, attached_bytes) != GASNET_OK) {
    fail_job("conformance: gex_Segment_Attach failed");
  }
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    void* address = nullptr;
    uintptr_t bytes = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job.team, peer, &address, nullptr, &bytes, 0));
    if (bytes != attached_bytes) fail_job("conformance: a rank's segment is not there");
    job.segments.push_back(static_cast<std::byte*>(address));
  }
}

/// The job's exit status: what the ranks found, together.
int verdict() {
  struct Result {
    int run;
    int skipped;
    int failed;
  };
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const std::vector<Result> results = gather(
      Result{tests.test_to_run_count(), tests.skipped_test_count(), tests.failed_test_count()});
  int status = 0;
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    const Result& result = results[peer];
    std::string trouble;
    if (result.failed > 0) trouble = std::to_string(result.failed) + " tests failed";
    if (result.skipped > 0) trouble = std::to_string(result.skipped) + " tests were skipped";
    if (result.run == 0) trouble = "no test was run";
    if (result.run != results[0].run) trouble = "other tests than on rank 0 were run";
    if (trouble.empty()) continue;
    status = 1;
    if (rank() == 0) {
      std::fprintf(stderr, "conformance: rank %u: %s\n", unsigned{peer}, trouble.c_str());
    }
  }
  barrier();
  return status;
}

}  // namespace

gex_Client_t client() {
  return job.client;
}
gex_EP_t endpoint() {
  return job.endpoint;
}
gex_TM_t team() {
  return job.team;
}
gex_Segment_t segment() {
  return job.segment;
}
gex_Rank_t rank() {
  return gex_TM_QueryRank(job.team);
}
gex_Rank_t size() {
  return gex_TM_QuerySize(job.team);
}
gex_Rank_t next() {
  return (rank() + 1) % size();
}
gex_Rank_t previous() {
  return (rank() + size() - 1) % size();
}
std::byte* segment_of(gex_Rank_t rank) {
  return job.segments[rank];
}
std::byte* own_segment() {
  return job.segments[rank()];
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(job.team, 0));
}

std::vector<std::byte> gather_bytes(const void* contribution, std::size_t bytes) {
  const std::size_t offset = segment_bytes + job.generation++ % 2 * max_ranks * exchange_bytes;
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    gex_RMA_PutBlocking(job.team, peer, segment_of(peer) + offset + rank() * exchange_bytes,
                        contribution, bytes, 0);
  }
  barrier();
  std::vector<std::byte> all(size() * bytes);
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    std::memcpy(all.data() + peer * bytes, own_segment() + offset + peer * exchange_bytes, bytes);
  }
  return all;
}

Handlers::Handlers(std::initializer_list<gex_AM_Entry_t> entries)
    : Handlers(std::vector<gex_AM_Entry_t>(entries)) {
}

Handlers::Handlers(std::vector<gex_AM_Entry_t> entries) : entries_(std::move(entries)) {
  handler_tables().push_back(this);
}

void Handlers::add_to_endpoint() {
  if (gex_EP_RegisterHandlers(endpoint(), entries_.data(), entries_.size()) != GASNET_OK) {
    fail_job("conformance: gex_EP_RegisterHandlers failed");
  }
}

Needs::Needs(Mode least, const char* test) {
  if (mode < least) left_out() += std::string(":") + test;
}

NeedsPeers::NeedsPeers(const char* suite) {
  left_out_alone() += std::string(":") + suite + ".*";
}

void give_up(const char* condition, const char* file, int line) {
  fail_job("rank " + std::to_string(rank()) + " of " + std::to_string(size()) + ", " +
           current_test + ": " + file + ":" + std::to_string(line) + ": waited too long for " +
           condition);
}

Patience::Patience() {
  static const double seconds = [] {
    const char* const chosen = std::getenv("CONFORMANCE_PATIENCE");
    return chosen != nullptr ? std::atof(chosen) : patience_seconds;
  }();
  end_ = now() + static_cast<std::uint64_t>(seconds * 1e9);
}
bool Patience::over() const {
  return now() > end_;
}

}  // namespace conformance

int main(int argc, char** argv) {
  using namespace conformance;
  start(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  // Every rank runs the same tests in the same order.
  testing::GTEST_FLAG(shuffle) = false;
  testing::GTEST_FLAG(catch_exceptions) = false;
  // A filter is patterns, and behind a dash the patterns of what it leaves out.
  std::string& filter = testing::GTEST_FLAG(filter);
  if (filter.find('-') == std::string::npos) filter += '-';
  filter += left_out();
  // A list is of what there is, however many ranks make it.
  if (size() == 1 && !testing::GTEST_FLAG(list_tests)) filter += left_out_alone();
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new FailureReport);
  listeners.Append(new Together);
  const int own_status = RUN_ALL_TESTS();
  const int status = verdict();
  return status != 0 ? status : own_status;
}
