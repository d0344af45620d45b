#include "net/mpi/library/network.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/spin_lock.h"
#include "net/kit/fatal.h"

namespace gex::net::mpi {

namespace {

constexpr int tag = 0;

/// Polls that take nothing between two looks at all receives.
constexpr std::uint32_t polls_per_full_look = 32;

/// Arrivals of a channel that one poll takes from MPI at most.
constexpr std::size_t max_arrivals = 8;

/// Sends that a poll asks for.
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

/// For messages to all peers, twice for replies (`max_held`).
std::size_t buffers_for(std::size_t ranks) noexcept {
  return std::min<std::size_t>(ranks * 3 * depth, std::size_t{3} * total_depth);
}

constexpr std::size_t slot_bytes = (max_message + 63) / 64 * 64;

}  // namespace

Network::Network(const Host& host, Session& session)
    : host_(host),
      session_(session),
      threaded_(host.threaded != 0),
      tests_before_progress_(Session::tests_before_progress()),
      pool_(buffers_for(host.size), slot_bytes, threaded_,
            [](std::span<std::byte>, SendBuffer& prototype) {
              prototype.request = MPI_REQUEST_NULL;
              return true;
            }),
      held_(host.size) {
  session_.on_finalize([this] { close(); });
}

Network::~Network() {
  if (receive_memory_ != nullptr) munmap(receive_memory_, 2 * slots * slot_bytes);
}

bool Network::start(std::string& error) {
  void* const memory = mmap(nullptr, 2 * slots * slot_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || !pool_.has_memory()) {
    error = "mpi: no memory for messages";
    return false;
  }
  receive_memory_ = static_cast<std::byte*>(memory);
  std::byte* place = receive_memory_;
  for (const Channel channel : {request_channel, reply_channel}) {
    for (Slot& slot : incoming_[channel].all) {
      slot.memory = place;
      place += slot_bytes;
      int code = MPI_Recv_init(slot.memory, max_message, MPI_BYTE, MPI_ANY_SOURCE, tag,
                               session_.communicator(channel), &slot.request);
      if (code == MPI_SUCCESS) code = MPI_Start(&slot.request);
      if (code != MPI_SUCCESS) {
        error = "mpi: a receive cannot be posted: " + error_text(code);
        return false;
      }
      incoming_[channel].posted.push_back(&slot);
    }
  }
  return true;
}

void Network::check(int code, const char* call) const {
  if (code != MPI_SUCCESS) [[unlikely]]
    lost_peer(host_, "mpi: %s on rank %u: %s", call, host_.rank, error_text(code).c_str());
}

SendBuffer* Network::take_buffer(Channel channel, std::uint32_t peer) {
  std::uint32_t& held = held_[peer][channel];
  if (held == max_held(channel)) return nullptr;
  SendBuffer* const buffer = pool_.take();
  if (buffer == nullptr) return nullptr;
  ++held;
  buffer->peer = peer;
  buffer->channel = channel;
  return buffer;
}

void Network::give_back(SendBuffer& buffer) {
  --held_[buffer.peer][buffer.channel];
  pool_.give_back(&buffer);
}

SendResult Network::send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
  const std::size_t size = size_of(pieces);
  if (peer >= host_.size || peer == host_.rank || size > max_message) [[unlikely]]
    fatal(host_, "mpi: a message of %zu bytes from rank %u to rank %u among %u; the limit is %zu",
          size, host_.rank, peer, host_.size, max_message);
  const OptionalGuard guard(mutex_, threaded_);
  if (is_closed_) [[unlikely]]
    fatal(host_, "mpi: rank %u has a message to send, but MPI has been finalized", host_.rank);
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
  check(MPI_Isend(start, static_cast<int>(size), MPI_BYTE, static_cast<int>(peer), tag,
                  session_.communicator(channel), &buffer->request),
        "MPI_Isend");
  int done = 0;
  check(MPI_Test(&buffer->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0)
    give_back(*buffer);
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
  if (SendBuffer* const built = pool_.built_at(payload)) give_back(*built);
}

void Network::complete_sends() {
  MPI_Request requests[batch];
  int done[batch];
  const std::size_t count = std::min(batch, in_flight_.size());
  // Not the oldest each time: a peer that takes nothing must not hide what others have taken.
  if (next_in_flight_ >= in_flight_.size()) next_in_flight_ = 0;
  const std::size_t first = next_in_flight_;
  const auto place = [&](std::size_t i) { return (first + i) % in_flight_.size(); };
  for (std::size_t i = 0; i < count; ++i) requests[i] = in_flight_[place(i)]->request;
  int done_count = 0;
  check(MPI_Testsome(static_cast<int>(count), requests, &done_count, done, MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  next_in_flight_ += count;
  if (done_count <= 0) return;
  for (int i = 0; i < done_count; ++i) {
    SendBuffer*& buffer = in_flight_[place(static_cast<std::size_t>(done[i]))];
    buffer->request = MPI_REQUEST_NULL;
    give_back(*buffer);
    buffer = nullptr;
  }
  std::erase(in_flight_, nullptr);
}

void Network::post(Slot& slot) {
  check(MPI_Start(&slot.request), "MPI_Start");
}

void Network::arrived(Incoming& incoming, std::size_t place, const MPI_Status& status) {
  Slot* const slot = incoming.posted[place];
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  slot->source = static_cast<std::uint32_t>(status.MPI_SOURCE);
  slot->size = static_cast<std::size_t>(size);
  incoming.posted[place] = nullptr;
  incoming.arrived.push_back(slot);
}

void Network::take_arrivals() {
  // One call moves MPI on and looks at the oldest receive of each channel. Another follows only
  // where the last poll has taken something too: a message alone is not held up by it.
  const std::size_t most = empty_polls_ == 0 ? max_arrivals : 1;
  for (std::size_t taken = 0; taken < most; ++taken) {
    std::array<MPI_Request, 2> oldest;
    std::array<Incoming*, 2> channels;
    int count = 0;
    // In turn, so that neither channel hides the other.
    first_channel_ ^= 1U;
    for (std::size_t i = 0; i < incoming_.size(); ++i) {
      Incoming& incoming = incoming_[first_channel_ ^ i];
      if (incoming.posted.empty()) continue;
      oldest[count] = incoming.posted.front()->request;
      channels[count++] = &incoming;
    }
    if (count == 0) return;
    int index = MPI_UNDEFINED;
    int done = 0;
    MPI_Status status;
    check(MPI_Testany(count, oldest.data(), &index, &done, &status), "MPI_Testany");
    // What has arrived inside the call is found by another.
    if (done == 0 && taken == 0 && tests_before_progress_)
      check(MPI_Testany(count, oldest.data(), &index, &done, &status), "MPI_Testany");
    if (done == 0 || index == MPI_UNDEFINED) return;
    arrived(*channels[index], 0, status);
    channels[index]->posted.erase(channels[index]->posted.begin());
  }
}

void Network::take_all_arrivals(Incoming& incoming) {
  const std::size_t count = incoming.posted.size();
  MPI_Request requests[slots];
  MPI_Status statuses[slots];
  int done[slots];
  int done_count = 0;
  if (count == 0) return;
  for (std::size_t i = 0; i < count; ++i) requests[i] = incoming.posted[i]->request;
  check(MPI_Testsome(static_cast<int>(count), requests, &done_count, done, statuses),
        "MPI_Testsome");
  for (int i = 0; i < done_count; ++i)
    arrived(incoming, static_cast<std::size_t>(done[i]), statuses[i]);
  std::erase(incoming.posted, nullptr);
}

void Network::advance() {
  const bool looks_at_all = empty_polls_ >= polls_per_full_look;
  if (looks_at_all) empty_polls_ = 0;
  if (looks_at_all)
    for (Incoming& incoming : incoming_) take_all_arrivals(incoming);
  else
    take_arrivals();
  if (!in_flight_.empty()) complete_sends();
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
      Incoming& incoming = incoming_[channel];
      if ((channels >> channel & 1U) == 0 || incoming.arrived.empty() || delivered == most)
        continue;
      Slot& slot = *incoming.arrived.front();
      incoming.arrived.pop_front();
      if (lock) lock.unlock();
      host_.deliver(slot.source, channel, slot.memory, slot.size);
      if (threaded_) lock.lock();
      // The handler may have left, and MPI with it.
      if (is_closed_) return delivered + 1;
      post(slot);
      incoming.posted.push_back(&slot);
      found = true;
      ++delivered;
    }
  }
  empty_polls_ = delivered != 0 ? 0 : empty_polls_ + 1;
  return delivered;
}

void Network::leave() {
  if (is_closed_) return;
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool entered = false;
  for (int done = 0; done == 0;) {
    // What still arrives is dropped.
    empty_polls_ = polls_per_full_look;
    advance();
    for (Incoming& incoming : incoming_) {
      for (Slot* const slot : incoming.arrived) {
        post(*slot);
        incoming.posted.push_back(slot);
      }
      incoming.arrived.clear();
    }
    if (!in_flight_.empty()) continue;
    if (!entered) {
      check(MPI_Ibarrier(session_.communicator(request_channel), &barrier), "MPI_Ibarrier");
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
  for (Incoming& incoming : incoming_) {
    for (Slot* const slot : incoming.posted) {
      MPI_Cancel(&slot->request);
      MPI_Wait(&slot->request, MPI_STATUS_IGNORE);
    }
    for (Slot& slot : incoming.all) MPI_Request_free(&slot.request);
  }
}

}  // namespace gex::net::mpi
