#pragma once
// `table_of`: the table of a conduit that is one object, whose member functions are the table's.
//
//   struct Mine {
//     static std::unique_ptr<Mine> attach(const Host& host, Limits& limits);
//     SendResult send(Channel channel, uint32_t peer, std::span<const Piece> pieces);
//     size_t poll(uint32_t channels, size_t max);
//   };
//   constexpr Conduit table = table_of<Mine>("mine", "what it is", one_machine);
//
// `attach` returns null after a `host.warn` with the reason why this network cannot be used here.
// No other code may own the object: it exists until `detach`, whatever static destructors run
// before, since a rank polls until its very end. `void leave()`, if there is one, is called before
// it is destroyed. Every other function of `Conduit` is in the table if the object has a member
// function of its name; lists are spans, and what is never null is a reference:
//
//   void* buffer(Channel, uint32_t peer, size_t size);  void release(void* buffer);
//   bool register_segment(const SegmentMemory&, void* key);  void deregister_segment(const void*
//   key); SendResult put(const Remote&, const void* local, size_t, void* done, void* local_done);
//   SendResult get(const Remote&, void* local, size_t, void* done);
//   uint32_t atomic_operations(uint32_t type) const;
//   SendResult atomic(const Remote&, uint32_t type, uint32_t operation, const void* operand1,
//                     const void* operand2, void* result, void* done);
//   SendResult flush(uint32_t peer, void* done);
//   SendResult put_pieces(const Remote&, std::span<const RemotePiece>, std::span<const LocalPiece>,
//                         void* done, void* local_done);
//   SendResult get_pieces(const Remote&, std::span<const RemotePiece>, std::span<const LocalPiece>,
//                         void* done);
//   void enter_lane(uint32_t lane);
//   static void describe(const Host&, void (*fact)(void*, const char*, const char*), void*
//   context);
//   static Standing standing(const Host&, bool several_hosts,
//                            void (*reason)(void*, const char*), void* context);
//   void transport(uint32_t peer, const char** name, const char** reason) const;
//   void report(void (*line)(void*, const char*), void* context);
//   int32_t prepare_wait(std::span<int> descriptors, uint64_t& limit_ns);
//   static constexpr const char* finalizer;  Finalization finalization(bool by_exit);
//   void finalize();

#include <gex/plugin/conduit.h>

#include <memory>
#include <span>
#include <utility>

namespace gex::net {

/// The object of a conduit that is attached, else null.
template <class Network>
inline Network* attached = nullptr;

template <class Network>
constexpr Conduit table_of(const char* name, const char* description, uint64_t capabilities) {
  Conduit table{};
  table.version = interface_version;
  table.name = name;
  table.description = description;
  table.capabilities = capabilities;
  table.attach = [](const Host* host, Limits* limits) -> int {
    if (host->version != interface_version) return 1;
    attached<Network> = Network::attach(*host, *limits).release();
    return attached<Network> != nullptr ? 0 : 1;
  };
  table.send = [](Channel channel, uint32_t peer, const Piece* pieces, size_t count) {
    return attached<Network>->send(channel, peer, std::span(pieces, count));
  };
  table.poll = [](uint32_t channels, size_t max) { return attached<Network>->poll(channels, max); };
  table.detach = [] {
    if constexpr (requires { attached<Network>->leave(); }) attached<Network>->leave();
    delete std::exchange(attached<Network>, nullptr);
  };
  if constexpr (requires { &Network::buffer; }) {
    table.buffer = [](Channel channel, uint32_t peer, size_t size) {
      return attached<Network>->buffer(channel, peer, size);
    };
    table.release = [](void* buffer) { attached<Network>->release(buffer); };
  }
  if constexpr (requires { &Network::register_segment; }) {
    table.register_segment = [](const SegmentMemory* memory, void* key) {
      return attached<Network>->register_segment(*memory, key) ? 0 : 1;
    };
    table.deregister_segment = [](const void* key) { attached<Network>->deregister_segment(key); };
  }
  if constexpr (requires { &Network::put; }) {
    table.put = [](const Remote* remote, const void* local, size_t size, void* done,
                   void* local_done) {
      return attached<Network>->put(*remote, local, size, done, local_done);
    };
    table.get = [](const Remote* remote, void* local, size_t size, void* done) {
      return attached<Network>->get(*remote, local, size, done);
    };
  }
  if constexpr (requires { &Network::atomic; }) {
    table.atomic_operations = [](uint32_t type) -> uint32_t {
      return attached<Network>->atomic_operations(type);
    };
    table.atomic = [](const Remote* remote, uint32_t type, uint32_t operation, const void* operand1,
                      const void* operand2, void* result, void* done) {
      return attached<Network>->atomic(*remote, type, operation, operand1, operand2, result, done);
    };
  }
  if constexpr (requires { &Network::flush; })
    table.flush = [](uint32_t peer, void* done) { return attached<Network>->flush(peer, done); };
  if constexpr (requires { &Network::put_pieces; }) {
    table.put_pieces = [](const Remote* remote, const RemotePiece* to, size_t to_count,
                          const LocalPiece* from, size_t from_count, void* done, void* local_done) {
      return attached<Network>->put_pieces(*remote, std::span(to, to_count),
                                           std::span(from, from_count), done, local_done);
    };
    table.get_pieces = [](const Remote* remote, const RemotePiece* from, size_t from_count,
                          const LocalPiece* to, size_t to_count, void* done) {
      return attached<Network>->get_pieces(*remote, std::span(from, from_count),
                                           std::span(to, to_count), done);
    };
  }
  if constexpr (requires { &Network::enter_lane; })
    table.enter_lane = [](uint32_t lane) { attached<Network>->enter_lane(lane); };
  if constexpr (requires { &Network::describe; })
    table.describe = [](const Host* host, void (*fact)(void*, const char*, const char*),
                        void* context) { Network::describe(*host, fact, context); };
  if constexpr (requires { &Network::standing; })
    table.standing = [](const Host* host, uint32_t several_hosts,
                        void (*reason)(void*, const char*), void* context) {
      return Network::standing(*host, several_hosts != 0, reason, context);
    };
  if constexpr (requires { &Network::transport; })
    table.transport = [](uint32_t peer, const char** name, const char** reason) {
      attached<Network>->transport(peer, name, reason);
    };
  if constexpr (requires { &Network::report; })
    table.report = [](void (*line)(void*, const char*), void* context) {
      attached<Network>->report(line, context);
    };
  if constexpr (requires { &Network::prepare_wait; })
    table.prepare_wait = [](int* descriptors, uint32_t max, uint64_t* limit_ns) {
      return attached<Network>->prepare_wait(std::span(descriptors, max), *limit_ns);
    };
  if constexpr (requires { &Network::finalize; }) {
    table.finalizer = Network::finalizer;
    table.finalization = [](uint32_t by_exit) {
      return attached<Network>->finalization(by_exit != 0);
    };
    table.finalize = [] { attached<Network>->finalize(); };
  }
  return table;
}

}  // namespace gex::net
