#include "net/mpi/library/network.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/spin_lock.h"
#include "net/kit/fatal.h"

namespace gex::net::mpi {

namespace {

/// Polls that take nothing between two looks at all receives.
constexpr std::uint32_t polls_per_full_look = 32;

/// Arrivals that one poll takes from MPI at most.
constexpr std::size_t max_arrivals = 8;

/// Sends that are asked for together.
constexpr std::size_t batch = 16;

constexpr std::size_t slot_bytes = (max_message + 63) / 64 * 64;

}  // namespace

Network::Network(const Host& host, Session& session)
    : host_(host),
      session_(session),
      threaded_(host.threaded != 0),
      pool_(ChannelBuffers<SendBuffer>::max_in_all(host.size), slot_bytes, threaded_,
            [](std::span<std::byte>, SendBuffer& prototype) {
              prototype.request = MPI_REQUEST_NULL;
              return true;
            }),
      // Under the lock.
      buffers_(host, "mpi", pool_, /*threaded=*/false),
      complete_request_(session.complete_request()),
      max_slots_(slots + ChannelBuffers<SendBuffer>::max_in_all(host.size)),
      arrivals_(/*threaded=*/false),
      one_sided_(host, session) {
  session_.on_finalize([this] { close(); });
}

Network::~Network() {
  if (receive_memory_ != nullptr) munmap(receive_memory_, max_slots_ * slot_bytes);
}

bool Network::start(std::string& error) {
  // Address space only; a page exists once it is used.
  void* const memory = mmap(nullptr, max_slots_ * slot_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || !pool_.has_memory()) {
    error = "mpi: no memory for messages";
    return false;
  }
  receive_memory_ = static_cast<std::byte*>(memory);
  post_more();
  return true;
}

void Network::check(int code, const char* call) const {
  if (code != MPI_SUCCESS) [[unlikely]]
    lost_peer(host_, "mpi: %s on rank %u: %s", call, host_.rank, error_text(code).c_str());
}

void Network::refuse_after_finalization(const char* what) const {
  fatal(host_, "mpi: rank %u has a %s, but MPI has been finalized", host_.rank, what);
}

SendResult Network::send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
  const std::size_t size = buffers_.size_to(peer, pieces);
  const OptionalGuard guard(mutex_, threaded_);
  if (is_closed_) [[unlikely]]
    refuse_after_finalization("message to send");
  SendBuffer* buffer = buffers_.fill(channel, peer, pieces, size);
  if (buffer == nullptr) {
    complete_all_sends();
    buffer = buffers_.fill(channel, peer, pieces, size);
    if (buffer == nullptr) return would_block;
  }
  check(MPI_Isend(buffer->start, static_cast<int>(size), MPI_BYTE, static_cast<int>(peer),
                  static_cast<int>(channel), session_.messages(), &buffer->request),
        "MPI_Isend");
  if (buffer->request == complete_request_)
    buffers_.give_back(*buffer);
  else
    in_flight_.push_back(buffer);
  return sent;
}

void* Network::buffer(Channel channel, std::uint32_t peer, std::size_t size) {
  const OptionalGuard guard(mutex_, threaded_);
  void* const payload = buffers_.build(channel, peer, size);
  if (payload != nullptr || size > payload_room) return payload;
  complete_all_sends();
  return buffers_.build(channel, peer, size);
}

void Network::release(void* payload) {
  const OptionalGuard guard(mutex_, threaded_);
  buffers_.release(payload);
}

void Network::complete_sends() {
  const std::size_t count = std::min(batch, in_flight_.size());
  // Not the oldest each time: a peer that takes nothing must not hide what others have taken.
  if (next_in_flight_ >= in_flight_.size()) next_in_flight_ = 0;
  const std::size_t first = next_in_flight_;
  const auto place = [&](std::size_t i) { return (first + i) % in_flight_.size(); };
  std::array<MPI_Request, batch> requests;
  std::array<bool, batch> done;
  for (std::size_t i = 0; i < count; ++i) requests[i] = in_flight_[place(i)]->request;
  check(test_each({requests.data(), count}, done.data()), "MPI_Testall");
  for (std::size_t i = 0; i < count; ++i) {
    SendBuffer*& buffer = in_flight_[place(i)];
    buffer->request = requests[i];
    if (!done[i]) continue;
    buffers_.give_back(*buffer);
    buffer = nullptr;
  }
  next_in_flight_ += count;
  std::erase(in_flight_, nullptr);
}

void Network::complete_all_sends() {
  for (std::size_t left = in_flight_.size(); left > 0 && !in_flight_.empty();) {
    left -= std::min(left, batch);
    complete_sends();
  }
}

void Network::post(Slot& slot) {
  check(MPI_Start(&slot.request), "MPI_Start");
  posted_.push_back(&slot);
}

void Network::post_more() {
  while (posted_.size() < slots) {
    if (free_slots_.empty()) {
      if (all_slots_.size() == max_slots_) return;
      Slot& made = all_slots_.emplace_back();
      made.memory = receive_memory_ + (all_slots_.size() - 1) * slot_bytes;
      check(MPI_Recv_init(made.memory, max_message, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                          session_.messages(), &made.request),
            "MPI_Recv_init");
      free_slots_.push_back(&made);
    }
    Slot& slot = *free_slots_.back();
    free_slots_.pop_back();
    post(slot);
  }
}

void Network::give_back(Slot& slot) {
  if (posted_.size() < slots)
    post(slot);
  else
    free_slots_.push_back(&slot);
}

void Network::arrived(Slot& slot, const MPI_Status& status) {
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  slot.source = static_cast<std::uint32_t>(status.MPI_SOURCE);
  slot.size = static_cast<std::size_t>(size);
  if (status.MPI_TAG == control_tag) {
    took_control_ = true;
    one_sided_.handle_control(slot.source, {slot.memory, slot.size});
    give_back(slot);
    return;
  }
  arrivals_.push(status.MPI_TAG == reply_channel ? reply_channel : request_channel, &slot);
}

void Network::collect_arrivals() {
  // One call moves MPI on and looks at the oldest receive. Another follows only where the last poll
  // has taken something too: a message alone is not held up by it.
  const std::size_t max = empty_polls_ == 0 ? max_arrivals : 1;
  for (std::size_t taken = 0; taken < max && !posted_.empty(); ++taken) {
    Slot& oldest = *posted_.front();
    int done = 0;
    MPI_Status status;
    check(MPI_Test(&oldest.request, &done, &status), "MPI_Test");
    if (done == 0) return;
    posted_.pop_front();
    arrived(oldest, status);
  }
}

void Network::collect_all_arrivals() {
  const std::size_t count = posted_.size();
  MPI_Request requests[slots];
  MPI_Status statuses[slots];
  int done[slots];
  int done_count = 0;
  if (count == 0) return;
  for (std::size_t i = 0; i < count; ++i) requests[i] = posted_[i]->request;
  check(MPI_Testsome(static_cast<int>(count), requests, &done_count, done, statuses),
        "MPI_Testsome");
  if (done_count <= 0) return;
  Slot* found[slots];
  for (int i = 0; i < done_count; ++i) found[i] = std::exchange(posted_[done[i]], nullptr);
  std::erase(posted_, nullptr);
  for (int i = 0; i < done_count; ++i) arrived(*found[i], statuses[i]);
}

void Network::advance() {
  took_control_ = false;
  const bool looks_at_all = empty_polls_ >= polls_per_full_look;
  if (looks_at_all) {
    empty_polls_ = 0;
    collect_all_arrivals();
  } else {
    collect_arrivals();
  }
  if (posted_.size() < slots / 2) post_more();
  if (in_flight_.size() >= batch || (looks_at_all && !in_flight_.empty())) complete_sends();
  one_sided_.advance(looks_at_all);
}

std::size_t Network::poll(std::uint32_t channels, std::size_t max) {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (threaded_ && !lock.try_lock()) return 0;
  if (is_closed_) return 0;
  advance();
  std::size_t delivered = 0;
  Channel channel;
  for (Slot* slot; delivered < max && arrivals_.pop(channels, channel, slot); ++delivered) {
    if (lock) lock.unlock();
    host_.deliver(slot->source, channel, slot->memory, slot->size);
    if (threaded_) lock.lock();
    // The handler may have left, and MPI with it.
    if (is_closed_) return delivered + 1;
    give_back(*slot);
  }
  empty_polls_ = delivered != 0 || took_control_ ? 0 : empty_polls_ + 1;
  return delivered;
}

bool Network::register_segment(const SegmentMemory& memory, void* key) {
  const OptionalGuard guard(mutex_, threaded_);
  return one_sided_.add_segment(memory, key);
}

void Network::deregister_segment(const void* key) {
  const OptionalGuard guard(mutex_, threaded_);
  one_sided_.remove_segment(key);
}

SendResult Network::put(const Remote& remote, const void* local, std::size_t size, void* done,
                        void* local_done) {
  const OptionalGuard guard(mutex_, threaded_);
  if (is_closed_) [[unlikely]]
    refuse_after_finalization("put");
  return one_sided_.put(remote, local, size, done, local_done);
}

SendResult Network::get(const Remote& remote, void* local, std::size_t size, void* done) {
  const OptionalGuard guard(mutex_, threaded_);
  if (is_closed_) [[unlikely]]
    refuse_after_finalization("get");
  return one_sided_.get(remote, local, size, done);
}

void Network::leave() {
  if (is_closed_) return;
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool entered = false;
  for (int done = 0; done == 0;) {
    // What still arrives is dropped.
    empty_polls_ = polls_per_full_look;
    advance();
    arrivals_.drop_all([this](Slot* slot) { give_back(*slot); });
    if (!in_flight_.empty() || !one_sided_.is_idle()) continue;
    if (!entered) {
      check(MPI_Ibarrier(session_.messages(), &barrier), "MPI_Ibarrier");
      entered = true;
    }
    check(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
  }
  close();
}

void Network::close() {
  const OptionalGuard guard(mutex_, threaded_);
  if (is_closed_) return;
  is_closed_ = true;
  one_sided_.abandon();
  for (Slot* const slot : posted_) {
    MPI_Cancel(&slot->request);
    MPI_Wait(&slot->request, MPI_STATUS_IGNORE);
  }
  for (Slot& slot : all_slots_) MPI_Request_free(&slot.request);
}

}  // namespace gex::net::mpi
