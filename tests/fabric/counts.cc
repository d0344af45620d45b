#include "counts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace gexsim {

namespace {

constexpr std::size_t kinds = 7;
constexpr std::size_t delivered = 4;
constexpr std::size_t fetched = 5;
constexpr std::size_t addresses = 6;

/// Null: no test asks for them.
std::atomic<std::uint64_t>* map_counts() {
  const char* const folder = std::getenv("FI_GEXSIM_COUNTS");
  if (folder == nullptr) return nullptr;
  const std::string path = std::string(folder) + "/" + std::to_string(getpid());
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (ftruncate(file, sizeof(std::uint64_t) * kinds) == 0)
    memory =
        mmap(nullptr, sizeof(std::uint64_t) * kinds, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<std::atomic<std::uint64_t>*>(memory);
}

std::atomic<std::uint64_t>* own_counts() {
  static std::atomic<std::uint64_t>* const counts = map_counts();
  return counts;
}

}  // namespace

void count(const Operation& operation) {
  std::atomic<std::uint64_t>* const counts = own_counts();
  if (counts == nullptr) return;
  ++counts[static_cast<std::size_t>(operation.kind)];
  if (operation.kind == Kind::write && operation.is_delivered) ++counts[delivered];
  if (operation.is_fetched) ++counts[fetched];
}

void count_address() {
  if (std::atomic<std::uint64_t>* const counts = own_counts()) ++counts[addresses];
}

}  // namespace gexsim
