#include "net/kit/memory_monitor.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/os_thread.h"

namespace gex::net {

namespace {

constexpr std::uint64_t wanted =
    UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;

/// From 5.15 the kernel counts the threads that are unmapping; before, `catch_up` returned when the
/// first of them was done.
bool counts_unmapping_threads() noexcept {
  utsname system{};
  int major = 0;
  int minor = 0;
  return uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 5 || (major == 5 && minor >= 15));
}

/// Faults of the kernel's own are not asked for, so no privilege is needed.
int open_events() noexcept {
  return static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
}

}  // namespace

std::unique_ptr<MemoryMonitor> MemoryMonitor::start(std::string& why) {
  if (!counts_unmapping_threads()) {
    why = "userfaultfd before Linux 5.15 does not wait for every thread that unmaps";
    return nullptr;
  }
  const int events = open_events();
  if (events < 0) {
    why = std::string("userfaultfd: ") + std::strerror(errno) +
          (errno == EPERM ? " (in a container: --cap-add SYS_PTRACE)" : "");
    return nullptr;
  }
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = wanted | UFFD_FEATURE_PAGEFAULT_FLAG_WP;
  const int end = ioctl(events, UFFDIO_API, &api) == 0 ? eventfd(0, EFD_CLOEXEC) : -1;
  if (end < 0) {
    why = std::string("userfaultfd cannot report unmapped memory: ") + std::strerror(errno);
    close(events);
    return nullptr;
  }
  std::unique_ptr<MemoryMonitor> monitor(new MemoryMonitor(events, end));
  if (const int error = monitor->start_listening(); error != 0) {
    why = std::string("cannot start the thread that watches for unmapped memory: ") +
          std::strerror(error);
    return nullptr;
  }
  return monitor;
}

int MemoryMonitor::start_listening() noexcept {
  // The client's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = os::start_thread(thread_, [this] { listen(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

MemoryMonitor::~MemoryMonitor() {
  const std::uint64_t one = 1;
  while (write(end_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  if (thread_.joinable()) thread_.join();
  // Releases threads that wait meanwhile, and all watched memory.
  close(events_);
  close(end_);
}

bool MemoryMonitor::watch(const Range& pages) noexcept {
  uffdio_register registration{};
  registration.range = {pages.begin, pages.end - pages.begin};
  // No page is ever protected, so none faults.
  registration.mode = UFFDIO_REGISTER_MODE_WP;
  return ioctl(events_, UFFDIO_REGISTER, &registration) == 0;
}

void MemoryMonitor::unwatch(const Range& pages) noexcept {
  uffdio_range range{pages.begin, pages.end - pages.begin};
  ioctl(events_, UFFDIO_UNREGISTER, &range);
}

bool MemoryMonitor::catch_up() noexcept {
  // Copies nothing to nowhere, which is refused (EINVAL). But from the moment at which a thread
  // begins to unmap watched memory until the event of that has been read, the kernel defers
  // everything (EAGAIN).
  constexpr int patience = 100'000;
  for (int tries = 0; tries < patience; ++tries) {
    uffdio_copy nothing{};
    if (ioctl(events_, UFFDIO_COPY, &nothing) == 0 || errno != EAGAIN) return true;
    sched_yield();
  }
  return false;
}

MemoryMonitor::Changes MemoryMonitor::changes() noexcept {
  const std::lock_guard lock(mutex_);
  const Changes taken = changes_;
  changes_.count = 0;
  changes_.all = false;
  return taken;
}

void MemoryMonitor::listen() noexcept {
  for (;;) {
    pollfd sources[] = {{events_, POLLIN, 0}, {end_, POLLIN, 0}};
    if (poll(sources, 2, -1) < 0 && errno != EINTR) return;
    if (sources[1].revents != 0) return;
    if (sources[0].revents != 0) read_events();
  }
}

// No memory is allocated or freed here: that could unmap, and no thread would read the event of it.
void MemoryMonitor::read_events() noexcept {
  // Reading releases the thread that unmaps. What it then asks must wait until this is recorded.
  const std::lock_guard lock(mutex_);
  uffd_msg event{};
  while (read(events_, &event, sizeof event) == sizeof event) {
    Range range{};
    switch (event.event) {
      case UFFD_EVENT_UNMAP:
      case UFFD_EVENT_REMOVE:
        range = {event.arg.remove.start, event.arg.remove.end};
        break;
      case UFFD_EVENT_REMAP:
        range = {event.arg.remap.from, event.arg.remap.from + event.arg.remap.len};
        break;
      default:
        continue;
    }
    if (changes_.count == Changes::max_ranges)
      changes_.all = true;
    else
      changes_.ranges[changes_.count++] = range;
  }
}

}  // namespace gex::net
