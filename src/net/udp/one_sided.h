#pragma once
// `OneSided`: which puts and gets of this process are under way, and which gets of others are being
// answered; it completes them when their last bytes have arrived.
//
// Datagrams are the endpoint's: it makes packets of a stream, counts them in
// `Stream::packets`, and reports each that its receiver has acknowledged; of a get it hands on
// the data that arrive. Everything is bounded: where there is no room, the caller tries again
// later.
//
//   Stream* put = one_sided.begin_put(remote, local, size, done, nullptr);
//   ++put->packets;                      // a packet with all of it leaves
//   put->cut = put->size;
//   one_sided.arrived(*put);             // completes `done`
//
// Thread rules: one thread at a time; `Host::complete` is called.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/zeroed_table.h"
#include "net/kit/object_pool.h"
#include "net/kit/put_groups.h"
#include "net/udp/stream.h"
#include "net/udp/wire.h"

namespace gex::net::udp {

/// Returns true if a put has no completion of its own: only a flush reports that it has arrived.
constexpr bool is_for_flush(const void* done, const void* local_done) noexcept {
  return done == nullptr && local_done == nullptr;
}

class OneSided {
 public:
  OneSided(const Host& host, std::size_t peers);

  /// Null: there are too many, and nothing has changed. If it `is_for_flush` the next flush to
  /// that peer waits for it.
  Stream* begin_put(const Remote& remote, const void* local, std::size_t size, void* done,
                    void* local_done);
  /// The put was begun, and nothing of it can be sent now: it is as if it had not been begun.
  void cancel_put(Stream& put);
  /// The put's bytes have been copied, so that the client may change them.
  void complete_locally(Stream& put);

  bool may_get() const noexcept { return !free_gets_.empty() || fresh_gets_ < gets_.size(); }
  /// Returns the details of the record that asks for it; the data will come by its number. Requires
  /// `may_get()`.
  GetDetails begin_get(const Remote& remote, void* local, std::size_t size, void* done);
  /// The get was begun, and cannot be asked for now: it is as if it had not been begun.
  void cancel_get(const GetDetails& get);
  /// Returns true if the data of that size belong to a get from that peer that is under way.
  bool expects(std::uint32_t peer, const GetDataDetails& details, std::size_t size) const noexcept;
  void handle_data(std::uint32_t peer, const GetDataDetails& details, const std::byte* data,
                   std::size_t size);

  /// Gets that may be answered beside those that are.
  std::size_t answers_left() const noexcept { return answers_.left(); }
  /// Null: there are too many.
  Stream* begin_answer(std::uint32_t peer, const GetDetails& details, const std::byte* memory);

  /// A packet of it has been acknowledged.
  void arrived(Stream& stream);
  /// Its peer has left: no more packets are made of it. Requires that none is unacknowledged.
  void abandon(Stream& stream);
  /// Completes `done` when all puts to there without completions of their own have arrived. False:
  /// there are too many flushes.
  bool flush(std::uint32_t peer, void* done);

  std::size_t puts() const noexcept { return puts_.taken(); }
  std::size_t answers() const noexcept { return answers_.taken(); }

 private:
  static constexpr std::uint32_t max_transfers = 4096;

  void finish(Stream& stream);
  /// Completes a flush.
  auto completion() const {
    return [this](void* done) { host_.complete(done); };
  }

  const Host& host_;
  ObjectPool<Stream> puts_{max_transfers};
  ObjectPool<Stream> answers_{max_transfers};
  PutGroups groups_;
  ZeroedTable<Get> gets_{max_transfers};  ///< by number
  std::vector<std::uint32_t> free_gets_;  ///< of those that were in use at some time
  std::uint32_t fresh_gets_ = 0;          ///< from this number on none was
};

}  // namespace gex::net::udp
