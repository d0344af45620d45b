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

std::size_t size_of(std::span<const Piece> pieces) noexcept {
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.size;
  return size;
}

/// Writes the pieces; returns the end.
std::byte* gather(std::byte* out, std::span<const Piece> pieces) noexcept {
  for (const Piece& piece : pieces) {
    if (piece.size != 0) std::memcpy(out, piece.data, piece.size);
    out += piece.size;
  }
  return out;
}

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

SendBuffer* Network::take_buffer(Channel channel, std::uint32_t peer) {
  SendBuffer* const buffer = buffers_.take(channel, peer);
  if (buffer != nullptr) return buffer;
  complete_all_sends();
  return buffers_.take(channel, peer);
}

SendResult Network::send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
  const std::size_t size = size_of(pieces);
  if (peer >= host_.size || peer == host_.rank || size > max_message) [[unlikely]]
    fatal(host_, "mpi: a message of %zu bytes from rank %u to rank %u among %u; the limit is %zu",
          size, host_.rank, peer, host_.size, max_message);
  const OptionalGuard guard(mutex_, threaded_);
  if (is_closed_) [[unlikely]]
    refuse_after_finalization("message to send");
  SendBuffer* buffer = pieces.empty() ? nullptr : pool_.built_at(pieces.back().data);
  std::byte* start;
  if (buffer != nullptr) {
    const std::size_t payload = pieces.back().size;
    const std::size_t header = size - payload;
    start = header <= header_room ? buffer->payload() - header : buffer->bytes();
    if (header > header_room) std::memmove(start + header, buffer->payload(), payload);
    gather(start, pieces.first(pieces.size() - 1));
  } else {
    buffer = take_buffer(channel, peer);
    if (buffer == nullptr) return would_block;
    start = buffer->bytes();
    gather(start, pieces);
  }
  check(MPI_Isend(start, static_cast<int>(size), MPI_BYTE, static_cast<int>(peer),
                  static_cast<int>(channel), session_.messages(), &buffer->request),
        "MPI_Isend");
  if (buffer->request == complete_request_)
    buffers_.give_back(*buffer);
  else
    in_flight_.push_back(buffer);
  return sent;
}

void* Network::buffer(Channel channel, std::uint32_t peer, std::size_t size) {
  if (size > payload_room) return nullptr;
  const OptionalGuard guard(mutex_, threaded_);
  SendBuffer* const taken = take_buffer(channel, peer);
  return taken != nullptr ? taken->payload() : nullptr;
}

void Network::release(void* payload) {
  const OptionalGuard guard(mutex_, threaded_);
  buffers_.give_back(buffers_.built_at(payload));
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
    one_sided_.take(slot.source, {slot.memory, slot.size});
    give_back(slot);
    return;
  }
  const Channel channel = status.MPI_TAG == reply_channel ? reply_channel : request_channel;
  arrived_[channel].push_back(&slot);
}

void Network::take_arrivals() {
  // One call moves MPI on and looks at the oldest receive. Another follows only where the last poll
  // has taken something too: a message alone is not held up by it.
  const std::size_t most = empty_polls_ == 0 ? max_arrivals : 1;
  for (std::size_t taken = 0; taken < most && !posted_.empty(); ++taken) {
    Slot& oldest = *posted_.front();
    int done = 0;
    MPI_Status status;
    check(MPI_Test(&oldest.request, &done, &status), "MPI_Test");
    if (done == 0) return;
    posted_.pop_front();
    arrived(oldest, status);
  }
}

void Network::take_all_arrivals() {
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
    take_all_arrivals();
  } else {
    take_arrivals();
  }
  if (posted_.size() < slots / 2) post_more();
  if (in_flight_.size() >= batch || (looks_at_all && !in_flight_.empty())) complete_sends();
  one_sided_.advance(looks_at_all);
}

std::size_t Network::poll(std::uint32_t channels, std::size_t most) {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (threaded_ && !lock.try_lock()) return 0;
  if (is_closed_) return 0;
  advance();
  std::size_t delivered = 0;
  bool found = true;
  while (found && delivered < most) {
    found = false;
    for (const Channel channel : {reply_channel, request_channel}) {
      std::deque<Slot*>& arrived = arrived_[channel];
      if ((channels >> channel & 1U) == 0 || arrived.empty() || delivered == most) continue;
      Slot& slot = *arrived.front();
      arrived.pop_front();
      if (lock) lock.unlock();
      host_.deliver(slot.source, channel, slot.memory, slot.size);
      if (threaded_) lock.lock();
      // The handler may have left, and MPI with it.
      if (is_closed_) return delivered + 1;
      give_back(slot);
      found = true;
      ++delivered;
    }
  }
  empty_polls_ = delivered != 0 || took_control_ ? 0 : empty_polls_ + 1;
  return delivered;
}

void Network::register_segment(const SegmentMemory& memory, void* key) {
  const OptionalGuard guard(mutex_, threaded_);
  one_sided_.add_segment(memory, key);
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
    for (std::deque<Slot*>& arrived : arrived_) {
      for (Slot* const slot : arrived) give_back(*slot);
      arrived.clear();
    }
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
