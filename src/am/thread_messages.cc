#include "am/thread_messages.h"

#include "observe/restricted.h"

namespace gex::am {

namespace {

/// Ends what the thread that had the record before has left open.
void close_descriptors(ThreadRecord& thread) noexcept {
  ThreadMessages* const kept = MessagesSlot::of(thread);
  if (kept == nullptr) return;
  kept->request.state = _gex_AM_SrcDesc::State::closed;
  kept->reply.state = _gex_AM_SrcDesc::State::closed;
}

}  // namespace

ThreadMessages& make_messages(ThreadRecord& thread) noexcept {
  auto* const made = new ThreadMessages;
  MessagesSlot::set(thread, made);
  return *made;
}

bool has_prepared_request(const ThreadRecord& thread) noexcept {
  const ThreadMessages* const kept = MessagesSlot::of(thread);
  return kept != nullptr && kept->request.is_open();
}

bool has_prepared_reply(const ThreadRecord& thread) noexcept {
  const ThreadMessages* const kept = MessagesSlot::of(thread);
  return kept != nullptr && kept->reply.is_open();
}

void start_thread_messages() noexcept {
  register_renewal(close_descriptors);
  register_restriction(
      []() noexcept {
        const ThreadRecord& thread = this_thread();
        return has_prepared_request(thread) || has_prepared_reply(thread);
      },
      "between Prepare and Commit or Cancel");
}

}  // namespace gex::am
