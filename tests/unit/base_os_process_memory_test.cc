#include "base/os_process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/os_mapping.h"
#include "base/os_memory.h"

namespace gex::os {
namespace {

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

// The process itself: one that the kernel always lets copy.

TEST(ProcessMemory, IsReadAndWritten) {
  // More than the kernel copies of one range at a time.
  std::vector<std::uint32_t> there(3 << 20);
  std::iota(there.begin(), there.end(), 7);
  std::vector<std::uint32_t> here(there.size());
  const std::size_t bytes = there.size() * sizeof(std::uint32_t);
  ASSERT_EQ(read_process_memory(::getpid(), here.data(), address_of(there.data()), bytes), 0);
  EXPECT_EQ(here, there);
  std::iota(here.begin(), here.end(), 9);
  ASSERT_EQ(write_process_memory(::getpid(), address_of(there.data()), here.data(), bytes), 0);
  EXPECT_EQ(here, there);
}

TEST(ProcessMemory, ThatIsNotMappedIsAnError) {
  // The first page is, the second one is not.
  Mapping pages = Mapping::anonymous(2 * page_size());
  ASSERT_TRUE(pages);
  ASSERT_EQ(::munmap(pages.data() + page_size(), page_size()), 0);
  std::vector<std::byte> here(2 * page_size());
  EXPECT_EQ(read_process_memory(::getpid(), here.data(), address_of(pages.data()), here.size()),
            EFAULT);
  EXPECT_EQ(write_process_memory(::getpid(), address_of(pages.data()), here.data(), here.size()),
            EFAULT);
}

TEST(ProcessMemory, OfAProcessThatHasEndedIsAnError) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  std::uint64_t word = 0;
  EXPECT_EQ(read_process_memory(child, &word, address_of(&word), sizeof word), ESRCH);
}

}  // namespace
}  // namespace gex::os
