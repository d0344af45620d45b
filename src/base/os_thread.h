#pragma once
// Starting threads, which the system may refuse.

#include <cerrno>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace gex::os {

/// Starts a thread that does `work`; 0, or the error number (see os_task_limits.h for what stands
/// behind EAGAIN). No exception leaves it.
template <class Work>
int start_thread(std::thread& thread, Work&& work) noexcept {
  try {
    thread = std::thread(std::forward<Work>(work));
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

}  // namespace gex::os
