#include "net/mpi/library/one_sided.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "net/kit/fatal.h"

namespace gex::net::mpi {

namespace {

/// Requests that a poll asks for.
constexpr std::size_t max_tested = 64;

}  // namespace

OneSided::OneSided(const Host& host, const Session& session)
    : host_(host),
      messages_(session.messages()),
      data_(session.data()),
      complete_request_(session.complete_request()),
      transfers_(host.size, room, *this) {
}

void OneSided::check(int code, const char* call) const {
  if (code != MPI_SUCCESS) [[unlikely]]
    lost_peer(host_, "mpi: %s on rank %u: %s", call, host_.rank, error_text(code).c_str());
}

void OneSided::refuse(std::uint32_t source) const {
  fatal(host_, "mpi: a malformed message about a put or get from rank %u", source);
}

bool OneSided::add_segment(const SegmentMemory& memory, void* key) {
  SegmentKey made{};
  if (!segments_.add(memory.address, memory.size, made)) return false;
  std::memcpy(key, &made, sizeof made);
  return true;
}

void OneSided::remove_segment(const void* key) {
  segments_.remove(*static_cast<const SegmentKey*>(key));
}

std::byte* OneSided::place_of(std::uint32_t source, const Header& header) {
  std::byte* const place = segments_.at(header.segment, header.address, header.size);
  if (place == nullptr)
    fatal(host_, "mpi: a put or get of rank %u, %llu bytes, does not lie in a segment of rank %u",
          source, static_cast<unsigned long long>(header.size), host_.rank);
  return place;
}

Transfer* OneSided::begin(const Remote& remote, void* destination, std::size_t size, void* done,
                          void* local_done) {
  Transfer* const transfer = transfers_.take(remote.peer);
  if (transfer == nullptr) return nullptr;
  transfer->done = done;
  transfer->local_done = local_done;
  transfer->destination = destination;
  transfer->size = size;
  transfer->unsent = transfer->unanswered = 0;
  return transfer;
}

void OneSided::source_is_free(Transfer& transfer) {
  if (transfer.local_done != nullptr) host_.complete(transfer.local_done);
}

void OneSided::is_over(Transfer& transfer) {
  void* const done = transfer.done;
  transfers_.give_back(transfer);
  host_.complete(done);
}

OneSided::Control& OneSided::new_control(Kind kind, std::uint32_t transfer) {
  Control& control = *controls_.take();
  control.header = {kind, transfer, 0, 0, 0, 0};
  return control;
}

OneSided::Control& OneSided::new_control(Kind kind, const Transfer& transfer,
                                         const Remote& remote) {
  Control& control = *controls_.take();
  control.header = {kind, transfer.number, static_cast<const SegmentKey*>(remote.key)->segment,
                    0,    remote.address,  transfer.size};
  return control;
}

void OneSided::send(std::uint32_t peer, Control& control, std::size_t data_size) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(&control.header, static_cast<int>(sizeof control.header + data_size), MPI_BYTE,
                  static_cast<int>(peer), control_tag, messages_, &request),
        "MPI_Isend");
  if (request == complete_request_) {
    controls_.give_back(&control);
    return;
  }
  sent_.push_back(request);
  sent_controls_.push_back(&control);
}

void OneSided::complete_controls() {
  const std::size_t count = std::min(max_sent, sent_.size());
  std::array<bool, max_sent> done;
  check(test_each({sent_.data(), count}, done.data()), "MPI_Testall");
  for (std::size_t i = 0; i < count; ++i) {
    if (done[i]) controls_.give_back(std::exchange(sent_controls_[i], nullptr));
  }
  // MPI has made the requests null.
  std::erase(sent_controls_, nullptr);
  std::erase(sent_, MPI_REQUEST_NULL);
  // What is left is asked for last: a peer that takes nothing must not hide what others have taken.
  const auto left = std::count(done.begin(), done.begin() + count, false);
  std::rotate(sent_.begin(), sent_.begin() + left, sent_.end());
  std::rotate(sent_controls_.begin(), sent_controls_.begin() + left, sent_controls_.end());
}

void OneSided::pend(MPI_Request request, const Pending& pending) {
  if (request == complete_request_) return completed(pending);
  requests_.push_back(request);
  pending_.push_back(pending);
}

SendResult OneSided::put(const Remote& remote, const void* local, std::size_t size, void* done,
                         void* local_done) {
  Transfer* const put = begin(remote, nullptr, size, done, local_done);
  if (put == nullptr) return would_block;
  put->unanswered = 1;
  const bool is_inline = size <= max_inline;
  Control& control = new_control(is_inline ? Kind::put_inline : Kind::put, *put, remote);
  if (is_inline) {
    std::memcpy(control.data.data(), local, size);
    send(remote.peer, control, size);
    if (local_done != nullptr) host_.complete(local_done);
    return sent;
  }
  send(remote.peer, control, 0);
  put->unsent = 1;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(local, static_cast<int>(size), MPI_BYTE, static_cast<int>(remote.peer),
                  data_tag(put->number, /*is_get=*/false), data_, &request),
        "MPI_Isend");
  pend(request, {What::own_data, remote.peer, put->number});
  return sent;
}

SendResult OneSided::get(const Remote& remote, void* local, std::size_t size, void* done) {
  Transfer* const get = begin(remote, local, size, done, nullptr);
  if (get == nullptr) return would_block;
  if (size > max_inline) {
    get->unsent = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(local, static_cast<int>(size), MPI_BYTE, static_cast<int>(remote.peer),
                    data_tag(get->number, /*is_get=*/true), data_, &request),
          "MPI_Irecv");
    pend(request, {What::own_data, remote.peer, get->number});
  } else {
    get->unanswered = 1;
  }
  send(remote.peer, new_control(Kind::get, *get, remote), 0);
  return sent;
}

void OneSided::handle_control(std::uint32_t source, std::span<const std::byte> message) {
  Header header;
  if (message.size() < sizeof header) refuse(source);
  std::memcpy(&header, message.data(), sizeof header);
  const std::span<const std::byte> data = message.subspan(sizeof header);
  const bool is_large = header.size > max_inline;
  MPI_Request request = MPI_REQUEST_NULL;
  if (header.transfer >= room.in_all || header.size > max_transfer) refuse(source);
  switch (header.kind) {
    case Kind::put_inline:
      if (data.size() != header.size) refuse(source);
      std::memcpy(place_of(source, header), data.data(), data.size());
      transfers_.owe(source, header.transfer);
      return;
    case Kind::put:
      check(MPI_Irecv(place_of(source, header), static_cast<int>(header.size), MPI_BYTE,
                      static_cast<int>(source), data_tag(header.transfer, /*is_get=*/false), data_,
                      &request),
            "MPI_Irecv");
      pend(request, {What::put_data, source, header.transfer});
      return;
    case Kind::get: {
      const std::byte* const place = place_of(source, header);
      if (is_large) {
        check(MPI_Isend(place, static_cast<int>(header.size), MPI_BYTE, static_cast<int>(source),
                        data_tag(header.transfer, /*is_get=*/true), data_, &request),
              "MPI_Isend");
        pend(request, {What::get_data, source, header.transfer});
        return;
      }
      Control& answer = new_control(Kind::got, header.transfer);
      std::memcpy(answer.data.data(), place, header.size);
      send(source, answer, header.size);
      return;
    }
    case Kind::got: {
      Transfer* const get = transfers_.awaiting(source, header.transfer);
      if (get == nullptr || get->destination == nullptr || data.size() != get->size) refuse(source);
      std::memcpy(get->destination, data.data(), data.size());
      transfers_.answered(*get);
      return;
    }
    case Kind::done:
      if (transfers_.handle_answers(source, data) * sizeof header.transfer != data.size())
        refuse(source);
      return;
  }
  refuse(source);
}

void OneSided::completed(const Pending& pending) {
  switch (pending.what) {
    case What::own_data:
      transfers_.message_sent(own(pending));
      return;
    case What::put_data:
      transfers_.owe(pending.peer, pending.transfer);
      return;
    case What::get_data:
      return;
  }
}

void OneSided::test_some() {
  // Not the oldest each time: a peer that takes nothing must not hide what others have taken.
  if (next_request_ >= requests_.size()) next_request_ = 0;
  const std::size_t first = next_request_;
  const std::size_t count = std::min(max_tested, requests_.size() - first);
  std::array<int, max_tested> done;
  int done_count = 0;
  check(MPI_Testsome(static_cast<int>(count), requests_.data() + first, &done_count, done.data(),
                     MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  if (done_count <= 0) {
    next_request_ += count;
    return;
  }
  std::array<Pending, max_tested> finished;
  const std::span<int> places(done.data(), static_cast<std::size_t>(done_count));
  for (std::size_t i = 0; i < places.size(); ++i)
    finished[i] = pending_[first + static_cast<std::size_t>(places[i])];
  // From the last, which takes the place of one that has not been looked at before.
  std::sort(places.begin(), places.end(), std::greater<>());
  for (const int place : places) {
    const std::size_t at = first + static_cast<std::size_t>(place);
    requests_[at] = requests_.back();
    pending_[at] = pending_.back();
    requests_.pop_back();
    pending_.pop_back();
  }
  for (std::size_t i = 0; i < places.size(); ++i) completed(finished[i]);
}

void OneSided::acknowledge() {
  transfers_.send_answers([this](std::uint32_t peer, std::span<const std::uint32_t> puts) {
    Control& control = new_control(Kind::done, 0);
    std::memcpy(control.data.data(), puts.data(), puts.size_bytes());
    send(peer, control, puts.size_bytes());
    return true;
  });
}

void OneSided::abandon() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const Pending& pending = pending_[i];
    const bool receives = pending.what == What::put_data ||
                          (pending.what == What::own_data && own(pending).destination != nullptr);
    // What is to be sent may still be taken.
    if (receives) MPI_Cancel(&requests_[i]);
    MPI_Request_free(&requests_[i]);
  }
  for (MPI_Request& request : sent_) MPI_Request_free(&request);
  sent_.clear();
  sent_controls_.clear();
  requests_.clear();
  pending_.clear();
}

}  // namespace gex::net::mpi
