#include "net/emu/adapter.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "net/kit/fatal.h"

namespace gex::net::emu {

namespace {

/// Each has two descriptors.
constexpr std::size_t max_pieces = 64;

struct Pipe {
  os::FileDescriptor out;
  os::FileDescriptor in;
};

Pipe make_pipe() noexcept {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return {};
  return {os::FileDescriptor(ends[0]), os::FileDescriptor(ends[1])};
}

std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

/// Gives each page its memory now: one that was never written would get another when it is.
bool fill(const Range& pages) noexcept {
  const auto populate = [](std::uintptr_t at, std::size_t size, int how) {
    return madvise(reinterpret_cast<void*>(at), size, how) == 0;
  };
  if (populate(pages.begin, pages.end - pages.begin, MADV_POPULATE_WRITE)) return true;
  // Some of it may be for reading only.
  for (std::uintptr_t page = pages.begin; page < pages.end; page += page_size()) {
    if (!populate(page, page_size(), MADV_POPULATE_WRITE) &&
        !populate(page, page_size(), MADV_POPULATE_READ))
      return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<KeptPages> KeptPages::of(const Range& pages) noexcept {
  if (!fill(pages)) return nullptr;
  std::unique_ptr<KeptPages> made(new KeptPages);
  const std::size_t count = (pages.end - pages.begin) / page_size();
  std::array<iovec, max_pieces> each{};
  made->count_ = std::min(count, max_pieces);
  for (std::size_t i = 0; i < made->count_; ++i) {
    made->addresses_[i] = pages.begin + i * count / made->count_ * page_size();
    each[i] = {reinterpret_cast<void*>(made->addresses_[i]), page_size()};
  }
  Pipe pipe = make_pipe();
  if (!pipe.in) return nullptr;
  // The pipe refers to the pages; nothing is copied.
  const ssize_t taken = vmsplice(pipe.in.get(), each.data(), made->count_, 0);
  if (taken < static_cast<ssize_t>(page_size())) return nullptr;
  // The kernel makes pipes shorter for a user that has many.
  made->count_ = static_cast<std::size_t>(taken) / page_size();
  made->kept_ = std::move(pipe.out);
  made->filled_ = std::move(pipe.in);
  return made;
}

bool KeptPages::are_at(const void* address, std::size_t size) const noexcept {
  const Pipe second = make_pipe();
  std::vector<std::byte> bytes(count_ * page_size());
  // The pipe goes on holding the pages; what is read are the bytes that they hold now.
  if (tee(kept_.get(), second.in.get(), bytes.size(), 0) <= 0) return true;
  const ssize_t got = read(second.out.get(), bytes.data(), bytes.size());
  if (got <= 0) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0; i < static_cast<std::size_t>(got) / page_size(); ++i) {
    const std::uintptr_t from = std::max(begin, addresses_[i]);
    const std::uintptr_t to = std::min(begin + size, addresses_[i] + page_size());
    if (from >= to) continue;
    const std::byte* kept = bytes.data() + i * page_size() + (from - addresses_[i]);
    if (std::memcmp(reinterpret_cast<const void*>(from), kept, to - from) != 0) return false;
  }
  return true;
}

std::unique_ptr<Adapter> Adapter::start(const Host& host, std::size_t bytes) {
  std::string why;
  std::unique_ptr<MemoryMonitor> monitor = MemoryMonitor::start(why);
  if (monitor) return std::unique_ptr<Adapter>(new Adapter(host, std::move(monitor), bytes));
  if (host.rank == 0)
    host.warn(("emu: local memory is registered anew for each transfer: " + why).c_str());
  return nullptr;
}

Adapter::Adapter(const Host& host, std::unique_ptr<MemoryMonitor> monitor, std::size_t bytes)
    : host_(host),
      monitor_(std::move(monitor)),
      cache_(static_cast<MemoryRegistry&>(*this), *monitor_,
             {.bytes = bytes, .pieces = max_pieces}) {
}

Adapter::Use Adapter::use(const void* local, std::size_t size) {
  const std::uint64_t before = registered_;
  RegistrationCache::Piece* piece = cache_.hold(local, size);
  if (piece == nullptr) return {nullptr, false};
  if (!static_cast<const KeptPages*>(piece->handle)->are_at(local, size))
    fatal(host_, "emu: %zu bytes at %p are not the memory any more that was registered there", size,
          local);
  return {piece, registered_ == before};
}

void* Adapter::add(void* address, std::size_t size) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  std::unique_ptr<KeptPages> pages = KeptPages::of({begin, begin + size});
  if (pages) ++registered_;
  return pages.release();
}

void Adapter::remove(void* handle) noexcept {
  delete static_cast<KeptPages*>(handle);
}

}  // namespace gex::net::emu
