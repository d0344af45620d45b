#pragma once
// Put, get and atomic operations over one worker.
//
// What completes is not the same thing for all of them. A get and an atomic operation are over when
// UCX completes them. UCX completes a put when its source is free; that the bytes are at the peer a
// flush of the endpoint shows. Each poll flushes an endpoint once for all puts since the flush
// before, with a few flushes under way at most: many puts share one then. Puts over TCP are the
// conduit's own (message_puts.h).
//
// UCX takes any number of operations. A peer and a process have room for so many records of them;
// that is the bound.
//
// Thread rules: as `Host::threaded` allows, but for those that need the worker in use.

#include <gex/plugin/conduit.h>
#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/zeroed_table.h"
#include "net/kit/message_transfers.h"
#include "net/kit/put_groups.h"
#include "net/ucx/endpoints.h"
#include "net/ucx/message_puts.h"
#include "net/ucx/remote_keys.h"
#include "net/ucx/segments.h"
#include "net/ucx/transfer.h"
#include "net/ucx/worker.h"

namespace gex::net::ucx {

/// A flush of what has been put over several workers.
struct FlushGroup {
  void* done;
  std::atomic<std::uint32_t> parts{1};  ///< flushes that are awaited, and one until all have begun
};

class OneSided final : private TransferOwner<Transfer> {
 public:
  static constexpr std::size_t max_transfer = std::size_t{1} << 30;
  static constexpr TransferRoom room{.a_peer = 256, .in_all = 2048};

  OneSided(const Host& host, Worker& worker, Endpoints& endpoints, Segments& segments);
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  /// Ready to receive. `key_bytes`: of segments' keys, which the ranks have agreed on.
  bool start(std::size_t key_bytes, std::string& error) {
    keys_.set_key_bytes(key_bytes);
    return messages_.start(error);
  }

  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done);
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done);
  SendResult flush(std::uint32_t peer, void* done);
  /// Has the group await what was put to this peer without a completion, if anything was.
  void flush_for(FlushGroup& group, std::uint32_t peer);
  /// One of the flushes that the group awaits is over.
  void part_is_done(FlushGroup& group);
  SendResult atomic(const Remote& remote, std::uint32_t data_type, std::uint32_t operation,
                    const void* operand1, const void* operand2, void* result, void* done);

  /// Flushes what was put since the last time. Cheap when that is nothing. With the worker in use.
  void start_flushes() {
    if (!to_flush_.empty()) flush_all();
  }

  /// Answers puts that have arrived. Cheap when that is nothing. With the worker in use.
  void answer_puts() { messages_.acknowledge(); }

  /// Operations that are not complete, and answers to peers' that UCX has. While no other thread
  /// runs.
  std::size_t under_way() const noexcept { return transfers_.under_way() + messages_.under_way(); }

  // The process leaves: no other thread runs.
  void begin_to_leave() noexcept {
    leaving_ = true;
    messages_.begin_to_leave();
  }
  void finish_leaving() { keys_.forget_all(); }

 private:
  struct PeerFlushes {
    Transfer* first = nullptr;  ///< of those that wait for a flush to begin
    Transfer* last = nullptr;
    std::uint32_t flushes = 0;  ///< under way
    bool is_listed = false;     ///< in to_flush_
    bool is_unflushed = false;  ///< puts without a completion were made since the last flush
  };

  // With the worker in use.

  /// Null: as many are under way as may be; but the flush of a group always begins.
  Transfer* take(std::uint32_t peer, Transfer::Purpose purpose, void* done);
  void begin_flush(Transfer& transfer);
  ucp_rkey_h key_of(const Remote& remote) {
    return keys_.find(remote, transfers_.under_way(remote.peer) <= 1);
  }
  /// Handles UCX's answer to an operation; false: it has no room now, and the operation is undone.
  bool accepted(Transfer& transfer, void* answer);
  /// One of the completions that a transfer awaits has come.
  void part_is_done(Transfer& transfer);
  void await_flush(Transfer& transfer);
  /// Completes a flush.
  auto completion() {
    return [this](void* flush) { part_is_done(*static_cast<Transfer*>(flush)); };
  }
  void source_is_free(Transfer& put) override;
  void is_over(Transfer& put) override;
  void flush_all();
  void flush_peer(std::uint32_t peer);
  void flushed(Transfer* first);
  const char* name_of(const Transfer& transfer) const noexcept;

  static void completed(void* request, ucs_status_t status, void* transfer);
  static void flush_completed(void* request, ucs_status_t status, void* first);

  const Host& host_;
  Worker& worker_;
  Endpoints& endpoints_;
  const Segments& segments_;
  RemoteKeys keys_;
  MessageTransfers<Transfer> transfers_;
  MessagePuts messages_;
  PutGroups groups_;  ///< of puts of messages
  ZeroedTable<PeerFlushes> peers_;
  std::vector<std::uint32_t> to_flush_;  ///< peers with puts that wait for a flush
  std::vector<std::uint32_t> flushing_;  ///< the same, while they are gone through
  bool leaving_ = false;
};

}  // namespace gex::net::ucx
