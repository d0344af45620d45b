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

/// A segment's key begins with its number.
std::uint64_t number_of(const void* key) noexcept {
  std::uint64_t number = 0;
  std::memcpy(&number, key, sizeof number);
  return number;
}

}  // namespace

OneSided::OneSided(const Host& host, const Session& session)
    : host_(host),
      messages_(session.messages()),
      data_(session.data()),
      complete_request_(session.complete_request()),
      under_way_(host.size) {
}

void OneSided::check(int code, const char* call) const {
  if (code != MPI_SUCCESS) [[unlikely]]
    lost_peer(host_, "mpi: %s on rank %u: %s", call, host_.rank, error_text(code).c_str());
}

void OneSided::refuse(std::uint32_t source) const {
  fatal(host_, "mpi: a malformed message about a put or get from rank %u", source);
}

void OneSided::add_segment(const SegmentMemory& memory, void* key) {
  const std::uint64_t words[2] = {++last_segment_, 0};
  std::memcpy(key, words, sizeof words);
  segments_[last_segment_] = {reinterpret_cast<std::uint64_t>(memory.address), memory.size};
}

void OneSided::remove_segment(const void* key) {
  segments_.erase(number_of(key));
}

std::byte* OneSided::place_of(std::uint32_t source, const Header& header) const {
  const auto found = segments_.find(header.segment);
  const bool holds = found != segments_.end() && header.address >= found->second.address &&
                     header.size <= found->second.size &&
                     header.address - found->second.address <= found->second.size - header.size;
  if (!holds)
    fatal(host_, "mpi: a put or get of rank %u, %llu bytes, does not lie in a segment of rank %u",
          source, static_cast<unsigned long long>(header.size), host_.rank);
  return reinterpret_cast<std::byte*>(header.address);
}

bool OneSided::has_room(std::uint32_t peer) const noexcept {
  return under_way_[peer] < max_for_peer &&
         (!free_operations_.empty() || operations_.size() < max_operations);
}

std::uint32_t OneSided::begin(std::uint32_t peer, void* done, void* local_done) {
  if (free_operations_.empty()) {
    free_operations_.push_back(static_cast<std::uint32_t>(operations_.size()));
    operations_.emplace_back();
  }
  const std::uint32_t number = free_operations_.back();
  free_operations_.pop_back();
  operations_[number] = {.done = done, .local_done = local_done, .peer = peer, .in_use = true};
  ++under_way_[peer];
  return number;
}

void OneSided::finish_if_done(std::uint32_t number) {
  Transfer& operation = operations_[number];
  if (operation.waits_for_data || operation.waits_for_answer) return;
  void* const done = operation.done;
  operation.in_use = false;
  --under_way_[operation.peer];
  free_operations_.push_back(number);
  host_.complete(done);
}

OneSided::Transfer& OneSided::operation_of(std::uint32_t peer, std::uint32_t number) {
  if (number >= operations_.size() || !operations_[number].in_use ||
      operations_[number].peer != peer || !operations_[number].waits_for_answer)
    refuse(peer);
  return operations_[number];
}

OneSided::Control& OneSided::take_control(Kind kind, std::uint32_t operation) {
  if (free_controls_.empty()) free_controls_.push_back(&controls_.emplace_back());
  Control& control = *free_controls_.back();
  free_controls_.pop_back();
  control.header = {.kind = kind, .operation = operation, .segment = 0, .address = 0, .size = 0};
  return control;
}

void OneSided::send(std::uint32_t peer, Control& control, std::size_t data_size) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(&control, static_cast<int>(sizeof control.header + data_size), MPI_BYTE,
                  static_cast<int>(peer), control_tag, messages_, &request),
        "MPI_Isend");
  if (request == complete_request_) {
    free_controls_.push_back(&control);
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
    if (done[i]) free_controls_.push_back(std::exchange(sent_controls_[i], nullptr));
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
  if (!has_room(remote.peer)) return would_block;
  const std::uint32_t number = begin(remote.peer, done, local_done);
  Transfer& operation = operations_[number];
  operation.waits_for_answer = true;
  const bool is_inline = size <= max_inline;
  Control& control = take_control(is_inline ? Kind::put_inline : Kind::put, number);
  control.header.segment = number_of(remote.key);
  control.header.address = remote.address;
  control.header.size = size;
  if (is_inline) {
    std::memcpy(control.data.data(), local, size);
    send(remote.peer, control, size);
    if (local_done != nullptr) host_.complete(local_done);
    return sent;
  }
  send(remote.peer, control, 0);
  operation.waits_for_data = true;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(local, static_cast<int>(size), MPI_BYTE, static_cast<int>(remote.peer),
                  data_tag(number, /*is_get=*/false), data_, &request),
        "MPI_Isend");
  pend(request, {What::own_data, remote.peer, number});
  return sent;
}

SendResult OneSided::get(const Remote& remote, void* local, std::size_t size, void* done) {
  if (!has_room(remote.peer)) return would_block;
  const std::uint32_t number = begin(remote.peer, done, nullptr);
  Transfer& operation = operations_[number];
  operation.destination = local;
  operation.size = size;
  if (size > max_inline) {
    operation.waits_for_data = true;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(local, static_cast<int>(size), MPI_BYTE, static_cast<int>(remote.peer),
                    data_tag(number, /*is_get=*/true), data_, &request),
          "MPI_Irecv");
    pend(request, {What::own_data, remote.peer, number});
  } else {
    operation.waits_for_answer = true;
  }
  Control& control = take_control(Kind::get, number);
  control.header.segment = number_of(remote.key);
  control.header.address = remote.address;
  control.header.size = size;
  send(remote.peer, control, 0);
  return sent;
}

void OneSided::take(std::uint32_t source, std::span<const std::byte> message) {
  Header header;
  if (message.size() < sizeof header) refuse(source);
  std::memcpy(&header, message.data(), sizeof header);
  const std::span<const std::byte> data = message.subspan(sizeof header);
  const bool is_large = header.size > max_inline;
  MPI_Request request = MPI_REQUEST_NULL;
  if (header.operation >= max_operations || header.size > max_transfer) refuse(source);
  switch (header.kind) {
    case Kind::put_inline:
      if (data.size() != header.size) refuse(source);
      std::memcpy(place_of(source, header), data.data(), data.size());
      owed_.push_back({source, header.operation});
      return;
    case Kind::put:
      check(MPI_Irecv(place_of(source, header), static_cast<int>(header.size), MPI_BYTE,
                      static_cast<int>(source), data_tag(header.operation, /*is_get=*/false), data_,
                      &request),
            "MPI_Irecv");
      pend(request, {What::put_data, source, header.operation});
      return;
    case Kind::get: {
      const std::byte* const place = place_of(source, header);
      if (is_large) {
        check(MPI_Isend(place, static_cast<int>(header.size), MPI_BYTE, static_cast<int>(source),
                        data_tag(header.operation, /*is_get=*/true), data_, &request),
              "MPI_Isend");
        pend(request, {What::get_data, source, header.operation});
        return;
      }
      Control& answer = take_control(Kind::got, header.operation);
      std::memcpy(answer.data.data(), place, header.size);
      send(source, answer, header.size);
      return;
    }
    case Kind::got: {
      Transfer& operation = operation_of(source, header.operation);
      if (data.size() != operation.size || operation.destination == nullptr) refuse(source);
      std::memcpy(operation.destination, data.data(), data.size());
      operation.waits_for_answer = false;
      finish_if_done(header.operation);
      return;
    }
    case Kind::done:
      if (data.size() % sizeof header.operation != 0) refuse(source);
      for (std::size_t at = 0; at < data.size(); at += sizeof header.operation) {
        std::memcpy(&header.operation, data.data() + at, sizeof header.operation);
        operation_of(source, header.operation).waits_for_answer = false;
        finish_if_done(header.operation);
      }
      return;
  }
  refuse(source);
}

void OneSided::completed(const Pending& pending) {
  switch (pending.what) {
    case What::own_data: {
      Transfer& operation = operations_[pending.operation];
      operation.waits_for_data = false;
      if (operation.local_done != nullptr) host_.complete(operation.local_done);
      finish_if_done(pending.operation);
      return;
    }
    case What::put_data:
      owed_.push_back({pending.peer, pending.operation});
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
  std::stable_sort(owed_.begin(), owed_.end(),
                   [](const Owed& one, const Owed& other) { return one.peer < other.peer; });
  for (std::size_t i = 0; i < owed_.size();) {
    const std::uint32_t peer = owed_[i].peer;
    Control& control = take_control(Kind::done, 0);
    std::size_t bytes = 0;
    for (std::size_t count = 0; i < owed_.size() && owed_[i].peer == peer; ++i, ++count) {
      if (count == max_acknowledged) break;
      std::memcpy(control.data.data() + bytes, &owed_[i].operation, sizeof owed_[i].operation);
      bytes += sizeof owed_[i].operation;
    }
    send(peer, control, bytes);
  }
  owed_.clear();
}

void OneSided::abandon() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const Pending& pending = pending_[i];
    const bool receives =
        pending.what == What::put_data ||
        (pending.what == What::own_data && operations_[pending.operation].destination != nullptr);
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
