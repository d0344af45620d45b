#pragma once
// The event loop of a guardian or a root: one thread around one epoll.
//
// A part of a guardian or a root watches descriptors and is notified of what it can read or write,
// and it acts at deadlines (`Timed`). One turn of the loop waits for the first of these, calls the
// handlers of the descriptors that are ready, and then lets every part meet its deadlines. Frames
// that have arrived are therefore read before a deadline expires.
//
//   EventLoop loop;
//   if (const int error = loop.open(); error != 0) ...
//   EventLoop::Watch watch = loop.watch(socket, [&] { receive(); }, [&] { flush(); });
//   watch.want_writable(true);
//   loop.add(heartbeats);
//   while (!done) loop.turn();
//
// Thread rules: one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/deadline.h"
#include "base/os_file.h"

namespace gex::launch {

/// A part that acts at points in time.
class Timed {
 public:
  /// When `meet_deadlines` has something to do; empty: not before another event.
  virtual Deadline next_deadline() const = 0;
  /// Called in each turn of the loop. Does what is due.
  virtual void meet_deadlines() = 0;

 protected:
  ~Timed() = default;
};

class EventLoop {
 public:
  using Handler = std::function<void()>;
  class Watch;

  /// Must be called before `watch`. A process that forks before it serves opens its loop after
  /// that, so that its children do not inherit it. Returns 0 or errno.
  int open();

  /// Calls `readable` in each turn in which the descriptor can be read, is closed by its peer or
  /// has an error, and `writable` while it is wanted (`want_writable`), that one first. The
  /// descriptor stays open until the result is destroyed or reset, and has no other watch.
  [[nodiscard]] Watch watch(int descriptor, Handler readable, Handler writable = nullptr);

  /// Adds a part, which lives as long as the loop. Parts meet their deadlines in order of addition.
  void add(Timed& part) { timed_.push_back(&part); }

  /// Waits for events until the next deadline, calls their handlers, and lets all parts meet their
  /// deadlines.
  void turn();

 private:
  struct Watched {
    int descriptor;
    Handler readable;
    Handler writable;
    bool wants_writable = false;
    bool active = true;  ///< until its `Watch` is destroyed, which a handler may do
  };

  Deadline next_deadline() const;
  void dispatch(std::uint64_t id, std::uint32_t events);

  os::FileDescriptor epoll_;
  /// By a number that is not used again, unlike that of a descriptor: an event of a turn may belong
  /// to a descriptor that an earlier handler of that turn has closed.
  std::unordered_map<std::uint64_t, std::shared_ptr<Watched>> watched_;
  std::uint64_t next_id_ = 0;
  std::vector<Timed*> timed_;
};

/// Ends the watch of a descriptor when it is destroyed. Handlers may destroy any watch, that of
/// their own descriptor included.
class EventLoop::Watch {
 public:
  Watch() = default;
  Watch(Watch&& other) noexcept;
  Watch& operator=(Watch&& other) noexcept;
  ~Watch() { reset(); }

  void reset() noexcept;
  /// Chooses whether `writable` is called when the descriptor can be written. Without effect if
  /// nothing is watched.
  void want_writable(bool wanted) noexcept;

 private:
  friend class EventLoop;
  Watch(EventLoop& loop, std::uint64_t id) noexcept : loop_(&loop), id_(id) {}

  EventLoop* loop_ = nullptr;
  std::uint64_t id_ = 0;
};

}  // namespace gex::launch
