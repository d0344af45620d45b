#include "launch/event_loop.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <utility>

namespace gex::launch {

int EventLoop::open() {
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  // A filter of system calls may deny this alone, and `turn` would spin.
  epoll_event none;
  return epoll_ && epoll_wait(epoll_.get(), &none, 1, 0) >= 0 ? 0 : errno;
}

EventLoop::Watch EventLoop::watch(int descriptor, Handler readable, Handler writable) {
  const std::uint64_t id = next_id_++;
  watched_.emplace(
      id, std::make_shared<Watched>(Watched{descriptor, std::move(readable), std::move(writable)}));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = id;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
  return Watch(*this, id);
}

Deadline EventLoop::next_deadline() const {
  Deadline next;
  for (const Timed* const part : timed_) next = earlier(next, part->next_deadline());
  return next;
}

void EventLoop::dispatch(std::uint64_t id, std::uint32_t events) {
  const auto found = watched_.find(id);
  if (found == watched_.end()) return;
  // A handler may end the watch, while it is running.
  const std::shared_ptr<Watched> watched = found->second;
  if ((events & EPOLLOUT) != 0 && watched->writable) watched->writable();
  if ((events & ~std::uint32_t{EPOLLOUT}) != 0 && watched->active) watched->readable();
}

void EventLoop::turn() {
  const Deadline deadline = next_deadline();
  const auto begun = Clock::Steady::now();
  const int wait = milliseconds_until(deadline);
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait);
  const auto late = Clock::Steady::now() - begun - std::chrono::milliseconds(wait);
  Clock::begin_turn(wait < 0 ? Clock::duration::zero() : late);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    dispatch(event.data.u64, event.events);
  }
  Clock::end_turn();
  for (Timed* const part : timed_) part->meet_deadlines();
}

EventLoop::Watch::Watch(Watch&& other) noexcept
    : loop_(std::exchange(other.loop_, nullptr)), id_(other.id_) {
}

EventLoop::Watch& EventLoop::Watch::operator=(Watch&& other) noexcept {
  if (this == &other) return *this;
  reset();
  loop_ = std::exchange(other.loop_, nullptr);
  id_ = other.id_;
  return *this;
}

void EventLoop::Watch::reset() noexcept {
  EventLoop* const loop = std::exchange(loop_, nullptr);
  if (loop == nullptr) return;
  const auto found = loop->watched_.find(id_);
  found->second->active = false;
  epoll_ctl(loop->epoll_.get(), EPOLL_CTL_DEL, found->second->descriptor, nullptr);
  loop->watched_.erase(found);
}

void EventLoop::Watch::want_writable(bool wanted) noexcept {
  if (loop_ == nullptr) return;
  Watched& watched = *loop_->watched_.find(id_)->second;
  if (std::exchange(watched.wants_writable, wanted) == wanted) return;
  epoll_event event{};
  event.events = EPOLLIN | (wanted ? std::uint32_t{EPOLLOUT} : 0U);
  event.data.u64 = id_;
  epoll_ctl(loop_->epoll_.get(), EPOLL_CTL_MOD, watched.descriptor, &event);
}

}  // namespace gex::launch
