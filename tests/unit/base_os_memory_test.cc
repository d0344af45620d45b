// Memory files and mappings.

#include "base/os_mapping.h"
#include "base/os_memory.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "temporary_folder.h"

namespace gex::os {
namespace {

constexpr std::uint64_t MiB = 1 << 20;

bool is_open(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) >= 0;
}

std::uint64_t allocated(int descriptor) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

/// Pages of the range that are in this process's page table now.
std::size_t mapped_pages(std::span<const std::byte> range) {
  const FileDescriptor pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  std::vector<std::uint64_t> entries(range.size() / page_size());
  const auto first = reinterpret_cast<std::uintptr_t>(range.data()) / page_size();
  const std::size_t bytes = entries.size() * sizeof entries[0];
  if (::pread(pagemap.get(), entries.data(), bytes,
              static_cast<off_t>(first * sizeof entries[0])) != static_cast<ssize_t>(bytes)) {
    ADD_FAILURE() << "reading /proc/self/pagemap: " << std::strerror(errno);
  }
  constexpr std::uint64_t present = std::uint64_t{1} << 63;
  return static_cast<std::size_t>(std::count_if(
      entries.begin(), entries.end(), [](std::uint64_t entry) { return (entry & present) != 0; }));
}

TEST(FileDescriptor, ClosesWhatItOwnsAndMovesIt) {
  int number = -1;
  {
    FileDescriptor first(::dup(STDOUT_FILENO));
    ASSERT_TRUE(first);
    number = first.get();
    FileDescriptor second(std::move(first));
    EXPECT_EQ(second.get(), number);
    first = std::move(second);
    EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move): moved-from is empty by contract
    EXPECT_EQ(first.get(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(FileDescriptor, ReleaseGivesUpOwnership) {
  FileDescriptor owner(::dup(STDOUT_FILENO));
  const int number = owner.release();
  EXPECT_FALSE(owner);
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST(FileDescriptor, ResetLeavesErrnoAlone) {
  FileDescriptor owner(99999);  // not open: close will fail
  errno = ENOSPC;
  owner.reset();
  EXPECT_EQ(errno, ENOSPC);
}

TEST(FileDescriptor, DuplicateIsCloseOnExecAndOfTheSameFile) {
  const MemoryFile file = create_memory_file("test", MiB);
  const FileDescriptor second = file.descriptor.duplicate();
  ASSERT_TRUE(second);
  EXPECT_NE(second.get(), file.descriptor.get());
  EXPECT_EQ(::fcntl(second.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(::lseek(second.get(), 0, SEEK_END), static_cast<off_t>(MiB));
  EXPECT_FALSE(FileDescriptor().duplicate());
  EXPECT_EQ(errno, EBADF);
}

/// The two kinds of memory file.
enum class Kind { any, unlinked };

MemoryFile create(Kind kind, std::uint64_t bytes) {
  const std::string folders[] = {"/tmp"};
  return kind == Kind::any ? create_memory_file("test", bytes)
                           : create_unlinked_file(folders, bytes);
}

class EveryMemoryFile : public testing::TestWithParam<Kind> {};

TEST_P(EveryMemoryFile, IsSparseCloseOnExecAndOfTheAskedSize) {
  const std::uint64_t bytes = 32 * MiB;
  const MemoryFile file = create(GetParam(), bytes);
  ASSERT_TRUE(file.descriptor) << std::strerror(errno);
  EXPECT_EQ(::lseek(file.descriptor.get(), 0, SEEK_END), static_cast<off_t>(bytes));
  EXPECT_LT(allocated(file.descriptor.get()), MiB);
  EXPECT_EQ(::fcntl(file.descriptor.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_GT(file.space, 0u);
  struct stat status;
  ASSERT_EQ(::fstat(file.descriptor.get(), &status), 0);
  EXPECT_EQ(status.st_nlink, 0u) << "it must have no name";
}

TEST_P(EveryMemoryFile, IsSharedByAllWhoMapItForkedOrNot) {
  const MemoryFile file = create(GetParam(), 4 * MiB);
  ASSERT_TRUE(file.descriptor);
  const Mapping whole = Mapping::shared(file.descriptor.get(), 0, 4 * MiB);
  const Mapping second_half = Mapping::shared(file.descriptor.get(), 2 * MiB, 2 * MiB);
  ASSERT_TRUE(whole && second_half);
  EXPECT_EQ(whole.data()[3 * MiB], std::byte{0});
  const pid_t child = ::fork();
  if (child == 0) {
    second_half.data()[MiB] = std::byte{42};
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(whole.data()[3 * MiB], std::byte{42});
}

TEST_P(EveryMemoryFile, CommitAllocatesTheAskedPartAndPopulateMapsIt) {
  const MemoryFile file = create(GetParam(), 16 * MiB);
  ASSERT_TRUE(file.descriptor);
  ASSERT_EQ(commit(file.descriptor.get(), 4 * MiB, 8 * MiB), 0);
  EXPECT_GE(allocated(file.descriptor.get()), 8 * MiB);
  EXPECT_LT(allocated(file.descriptor.get()), 9 * MiB);
  const Mapping mapping = Mapping::shared(file.descriptor.get(), 0, 16 * MiB);
  ASSERT_TRUE(mapping);
  mapping.data()[5 * MiB] = std::byte{7};
  ASSERT_EQ(populate(mapping.bytes().subspan(4 * MiB, 8 * MiB)), 0);
  EXPECT_EQ(mapped_pages(mapping.bytes().subspan(4 * MiB, 8 * MiB)), 8 * MiB / page_size());
  EXPECT_EQ(mapped_pages(mapping.bytes().subspan(12 * MiB)), 0u);
  EXPECT_EQ(mapping.data()[5 * MiB], std::byte{7});
  EXPECT_EQ(mapping.data()[5 * MiB + 1], std::byte{0});
}

/// Sanitizers have handlers of the signal.
void write_to(std::byte* where) {
  signal(SIGSEGV, SIG_DFL);
  *where = std::byte{1};
}

TEST_P(EveryMemoryFile, IsGuardedBehindItsEndAndAlignedForHugePages) {
  const MemoryFile file = create(GetParam(), 16 * MiB);
  ASSERT_TRUE(file.descriptor);
  const Mapping whole = Mapping::shared(file.descriptor.get(), 0, 16 * MiB);
  ASSERT_TRUE(whole);
  whole.data()[4 * MiB + 5] = std::byte{42};
  Mapping guarded = Mapping::guarded(file.descriptor.get(), 4 * MiB, 6 * MiB - 1);
  ASSERT_TRUE(guarded);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(guarded.data()) % huge_page, 0u);
  EXPECT_EQ(guarded.size(), 6 * MiB);
  EXPECT_EQ(guarded.data()[5], std::byte{42});
  EXPECT_EXIT(write_to(guarded.data() + 6 * MiB), testing::KilledBySignal(SIGSEGV), "");

  // Small ones have a guard too, and all of it goes with the mapping.
  const Mapping small = Mapping::guarded(file.descriptor.get(), page_size(), 1);
  ASSERT_TRUE(small);
  EXPECT_EQ(small.size(), page_size());
  EXPECT_EXIT(write_to(small.data() + page_size()), testing::KilledBySignal(SIGSEGV), "");
  std::byte* const end = guarded.data() + guarded.size();
  guarded.reset();
  unsigned char resident = 0;
  EXPECT_EQ(mincore(end, page_size(), &resident), -1) << "the guard is still mapped";
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryMemoryFile, testing::Values(Kind::any, Kind::unlinked),
                         [](const auto& info) {
                           return info.param == Kind::any ? "any" : "unlinked";
                         });

TEST(FixedFile, HasItsBytesAndItsSizeIsFixed) {
  const MemoryFile file = create_fixed_file("test", 2 * page_size());
  ASSERT_TRUE(file.descriptor) << file.why;
  EXPECT_EQ(file_size(file.descriptor.get()), 2 * page_size());
  if (file.origin != "memfd") GTEST_SKIP() << "there are no memory files here";
  EXPECT_NE(::ftruncate(file.descriptor.get(), 0), 0);
  EXPECT_NE(::ftruncate(file.descriptor.get(), static_cast<off_t>(MiB)), 0);
}

TEST(UnlinkedFile, ReportsForEachFolderWhyItIsNotThere) {
  const TemporaryFolder folder;
  const std::string folders[] = {folder.path() + "/missing", "/dev/null"};
  const MemoryFile file = create_unlinked_file(folders, MiB);
  EXPECT_FALSE(file.descriptor);
  EXPECT_EQ(file.why, "a file in " + folder.path() +
                          "/missing: No such file or directory; a file " +
                          "in /dev/null: Not a directory");
}

TEST(EmptyInput, IsAtTheLowestNumberAndReadsAsEmpty) {
  const FileDescriptor lowest = open_empty_input();
  const int number = lowest.get();
  ASSERT_GE(number, 0);
  char byte = 0;
  EXPECT_EQ(::read(number, &byte, 1), 0);
  EXPECT_LT(::write(number, &byte, 1), 0);
  EXPECT_EQ(::fcntl(number, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_GT(open_empty_input().get(), number);
}

TEST(UnlinkedFile, LiesInTheFirstFolderThatTakesItAndHasNoNameThere) {
  const TemporaryFolder folder;
  const std::string folders[] = {folder.path() + "/missing", folder.path(), "/tmp"};
  const MemoryFile file = create_unlinked_file(folders, MiB);
  ASSERT_TRUE(file.descriptor) << std::strerror(errno);
  EXPECT_EQ(file.origin, folder.path());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_LT(file.space, std::numeric_limits<std::uint64_t>::max()) << "a disk has an end";
}

TEST(UnlinkedFile, WithoutAFolderThatTakesItTheReasonIsInErrno) {
  const TemporaryFolder folder;
  const std::string folders[] = {folder.path() + "/missing"};
  errno = 0;
  EXPECT_FALSE(create_unlinked_file(folders, MiB).descriptor);
  EXPECT_EQ(errno, ENOENT);
}

TEST(MemoryFile, ASizeAboveTheFileSizeLimitIsAnErrorAndNoSignal) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{MiB, MiB};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    errno = 0;
    const bool refused = !create_memory_file("test", 2 * MiB).descriptor && errno == EFBIG;
    const bool accepted = static_cast<bool>(create_memory_file("test", MiB).descriptor);
    ::_exit(refused && accepted ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(MemoryFile, ASizeThatNoFileCanHaveIsAnError) {
  errno = 0;
  EXPECT_FALSE(create_memory_file("test", std::numeric_limits<std::uint64_t>::max()).descriptor);
  EXPECT_EQ(errno, EFBIG);
}

TEST(Commit, AnswersWhyItFailed) {
  EXPECT_EQ(commit(-1, 0, MiB), EBADF);
}

TEST(Mapping, OwnsItsRange) {
  Mapping first = Mapping::anonymous(MiB);
  ASSERT_TRUE(first);
  EXPECT_EQ(first.size(), MiB);
  std::byte* const address = first.data();
  address[MiB - 1] = std::byte{9};
  Mapping second(std::move(first));
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): moved-from is empty by contract
  EXPECT_EQ(second.data(), address);
  second.reset();
  EXPECT_FALSE(second);
  // Unmapped: the kernel has no page there any more.
  EXPECT_NE(populate({address, page_size()}), 0);
}

TEST(Mapping, ReleaseLeavesTheRangeMapped) {
  Mapping mapping = Mapping::anonymous(MiB);
  const std::span<std::byte> range = mapping.release();
  EXPECT_FALSE(mapping);
  range[0] = std::byte{1};
  EXPECT_EQ(::munmap(range.data(), range.size()), 0);
}

TEST(Mapping, FailureIsAnEmptyMappingWithTheReason) {
  errno = 0;
  EXPECT_FALSE(Mapping::shared(-1, 0, MiB));
  EXPECT_EQ(errno, EBADF);
  errno = 0;
  EXPECT_FALSE(Mapping::anonymous(std::size_t{1} << 60));
  EXPECT_EQ(errno, ENOMEM);
}

TEST(PageSize, IsAPowerOfTwoAndRoundsUp) {
  const std::uint64_t page = page_size();
  EXPECT_EQ(page & (page - 1), 0u);
  EXPECT_EQ(round_up_to_page(0), 0u);
  EXPECT_EQ(round_up_to_page(1), page);
  EXPECT_EQ(round_up_to_page(page), page);
  EXPECT_EQ(round_up_to_page(page + 1), 2 * page);
}

TEST(HugePages, TheChosenWordIsTheOneInBrackets) {
  const TemporaryFolder root;
  const std::string folder = "sys/kernel/mm/transparent_hugepage/";
  root.write(folder + "enabled", "always [madvise] never\n");
  root.write(folder + "shmem_enabled", "always within_size advise [never] deny force\n");
  root.write(folder + "hpage_pmd_size", "2097152\n");
  const HugePages pages = huge_pages(root.path());
  EXPECT_EQ(pages.anonymous, "madvise");
  EXPECT_EQ(pages.shared, "never");
  EXPECT_EQ(pages.bytes, 2097152u);
}

TEST(HugePages, AKernelWithoutThemIsSilent) {
  const TemporaryFolder root;
  root.write("sys/kernel/mm/transparent_hugepage/enabled", "garbage ]here[\n");
  const HugePages pages = huge_pages(root.path());
  EXPECT_EQ(pages.anonymous, "");
  EXPECT_EQ(pages.shared, "");
  EXPECT_EQ(pages.bytes, 0u);
}

TEST(AdviseHugePages, IsAcceptedWhereTheKernelHasThem) {
  const Mapping mapping = Mapping::anonymous(4 * MiB);
  const int expected = huge_pages().anonymous.empty() ? EINVAL : 0;
  EXPECT_EQ(advise_huge_pages(mapping.bytes()), expected);
}

}  // namespace
}  // namespace gex::os
