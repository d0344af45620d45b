// ranks N MODULE ARGUMENTS...: runs a program of the suite (a module, see CMakeLists.txt) as a job
// of N ranks that are threads of this process, each with a copy of libgex and of the program. Every
// copy is a file of its own, so the loader takes it for another library, with state of its own.
//
// What ranks share lies at the same addresses for all of them (shared_files.h), so that
// ThreadSanitizer sees what is between ranks, which in a job of processes it cannot.
//
// The exit status is the first that is not 0 of the ranks. A rank that ends its job ends the
// process.

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "guardian.h"
#include "services.h"
#include "shared_files.h"

namespace {

namespace fs = std::filesystem;
using namespace gex;

/// The module's copy for a rank, beside it. Other tests may make and use the same one meanwhile.
fs::path copy_of(const fs::path& module, std::uint32_t rank) {
  const fs::path copy = module.string() + "." + std::to_string(rank);
  std::error_code none;
  const fs::file_time_type made = fs::last_write_time(copy, none);
  if (!none && made >= fs::last_write_time(module)) return copy;
  const fs::path fresh = copy.string() + "." + std::to_string(getpid());
  fs::copy_file(module, fresh, fs::copy_options::overwrite_existing);
  fs::rename(fresh, copy);
  return copy;
}

sim::RunRank load(const fs::path& copy) {
  void* const library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fatal("%s", dlerror());
  void* const entry = dlsym(library, sim::run_rank_symbol);
  if (entry == nullptr) fatal("%s", dlerror());
  return reinterpret_cast<sim::RunRank>(entry);
}

/// Starts this program once more, with room for the thread-local variables of so many copies, which
/// lie where those of libraries lie that are there from the start.
void make_room_for_thread_locals(char** argv) {
  constexpr const char* variable = "GLIBC_TUNABLES";
  if (std::getenv(variable) != nullptr) return;
  setenv(variable, "glibc.rtld.optional_static_tls=262144", 1);
  execv("/proc/self/exe", argv);
  fatal_system("starting this program once more", errno);
}

}  // namespace

int main(int argc, char** argv) {
  const int wanted = argc < 3 ? 0 : std::atoi(argv[1]);
  if (wanted < 1 || wanted > 64) {
    std::fprintf(stderr, "usage: %s N MODULE ARGUMENTS...\n", argv[0]);
    return 2;
  }
  make_room_for_thread_locals(argv);
  const auto size = static_cast<std::uint32_t>(wanted);
  const fs::path module = fs::absolute(argv[2]);
  const sim::Services services{sim::map_file, sim::has_mapped};
  std::vector<sim::RunRank> entries;
  for (std::uint32_t rank = 0; rank < size; ++rank) entries.push_back(load(copy_of(module, rank)));

  sim::Guardian guardian(size);
  std::atomic<std::uint32_t> running{size};
  std::atomic<int> status{0};
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      std::vector<char*> arguments(argv + 2, argv + argc + 1);
      const int own =
          entries[rank](services, guardian.membership(rank).c_str(), argc - 2, arguments.data());
      int none = 0;
      status.compare_exchange_strong(none, own);
      --running;
    });
  }
  guardian.serve([&] { return running == 0; });
  for (std::thread& rank : ranks) rank.join();
  return status;
}
