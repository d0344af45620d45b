#include "net/udp/one_sided.h"

#include <cstring>
#include <utility>

#include "base/assert.h"
#include "net/kit/segments.h"

namespace gex::net::udp {

namespace {

/// The number of the segment at its peer.
std::uint32_t segment_of(const Remote& remote) noexcept {
  SegmentKey key;
  std::memcpy(&key, remote.key, sizeof key);
  return key.segment;
}

}  // namespace

OneSided::OneSided(const Host& host, std::size_t peers)
    : host_(host), groups_(peers, max_transfers) {
}

Stream* OneSided::begin_put(const Remote& remote, const void* local, std::size_t size, void* done,
                            void* local_done) {
  Stream* const put = puts_.take();
  if (put == nullptr) return nullptr;
  put->peer = remote.peer;
  put->segment = segment_of(remote);
  put->remote = remote.address;
  put->local = static_cast<const std::byte*>(local);
  put->size = size;
  put->done = done;
  put->local_done = local_done;
  if (!is_for_flush(done, local_done)) return put;
  put->group = groups_.add(remote.peer);
  if (put->group != nullptr) return put;
  puts_.give_back(put);
  return nullptr;
}

void OneSided::cancel_put(Stream& put) {
  GEX_ASSERT(put.kind == Stream::put && put.packets == 0 && put.cut == 0);
  if (put.group != nullptr) PutGroups::cancel(*put.group);
  puts_.give_back(&put);
}

void OneSided::complete_locally(Stream& put) {
  if (put.local_done != nullptr) host_.complete(std::exchange(put.local_done, nullptr));
}

GetDetails OneSided::begin_get(const Remote& remote, void* local, std::size_t size, void* done) {
  GEX_ASSERT(may_get());
  const std::uint32_t number = free_gets_.empty() ? fresh_gets_++ : free_gets_.back();
  if (!free_gets_.empty()) free_gets_.pop_back();
  GEX_ASSERT(gets_[number].done == nullptr);
  gets_[number] = {static_cast<std::byte*>(local), size, 0, done, remote.peer};
  return {remote.address, size, segment_of(remote), number, 0};
}

void OneSided::cancel_get(const GetDetails& get) {
  GEX_ASSERT(gets_[get.get].done != nullptr && gets_[get.get].received == 0);
  gets_[get.get].done = nullptr;
  free_gets_.push_back(get.get);
}

bool OneSided::expects(std::uint32_t peer, const GetDataDetails& details,
                       std::size_t size) const noexcept {
  if (details.get >= gets_.size() || size == 0) return false;
  const Get& get = gets_[details.get];
  return get.done != nullptr && get.peer == peer && details.offset <= get.size &&
         size <= get.size - details.offset;
}

void OneSided::handle_data(std::uint32_t peer, const GetDataDetails& details, const std::byte* data,
                           std::size_t size) {
  // Another record of the same datagram may have completed it.
  if (!expects(peer, details, size)) return;
  Get& get = gets_[details.get];
  std::memcpy(get.local + details.offset, data, size);
  get.received += size;
  if (get.received < get.size) return;
  host_.complete(std::exchange(get.done, nullptr));
  free_gets_.push_back(details.get);
}

Stream* OneSided::begin_answer(std::uint32_t peer, const GetDetails& details,
                               const std::byte* memory) {
  Stream* const answer = answers_.take();
  if (answer == nullptr) return nullptr;
  answer->kind = Stream::answer;
  answer->peer = peer;
  answer->get = details.get;
  answer->local = memory;
  answer->size = details.size;
  return answer;
}

void OneSided::arrived(Stream& stream) {
  GEX_ASSERT(stream.packets != 0 && stream.cut <= stream.size);
  --stream.packets;
  if (stream.packets == 0 && stream.cut == stream.size) finish(stream);
}

void OneSided::abandon(Stream& stream) {
  GEX_ASSERT(stream.packets == 0 && stream.cut < stream.size);
  finish(stream);
}

void OneSided::finish(Stream& stream) {
  if (stream.kind == Stream::answer) {
    answers_.give_back(&stream);
    return;
  }
  if (stream.local_done != nullptr) host_.complete(stream.local_done);
  if (stream.done != nullptr) host_.complete(stream.done);
  if (stream.group != nullptr) groups_.arrived(stream.peer, *stream.group, completion());
  puts_.give_back(&stream);
}

bool OneSided::flush(std::uint32_t peer, void* done) {
  return groups_.flush(peer, done, completion());
}

}  // namespace gex::net::udp
