#pragma once
// `Conduit`: what a network must be to carry libgex, and nothing more.
//
// A conduit moves messages between the processes of a job. Handlers, endpoints, credits and teams
// are not its concern: libgex has all of those once, for every conduit. It is given one versioned
// table of host functions (`Host`) and gives back one of its own (`Conduit`); it links nothing of
// libgex, so the same plug-in serves the shared and the static library. docs/writing-a-conduit.md
// is the guide, examples/conduit the smallest complete one.
//
// What a conduit promises:
//  - Two channels, request and reply, that never block one another: a full request queue must not
//    keep a reply from being sent or received.
//  - A message that `send` accepted is delivered exactly once, whole, to the peer's `Host::deliver`
//    out of the peer's `poll`; messages may arrive in any order. A network may need the sender's
//    polls for that as well, of no channel and for no message if need be, or its `detach`.
//  - Room for `Limits::reply_depth` undelivered reply messages of maximum size from each peer to
//    each peer: am/ keeps no more requests outstanding, so a reply is never refused for lack of
//    room at a peer that does not poll. A message counts as undelivered until the `Host::deliver`
//    it was given to has returned.
//  - `poll` releases every lock before it calls `Host::deliver`, because the delivered handler may
//    `send`, and may `poll` the reply channel again.
//  - When `Host::threaded` is set, every function but `attach` and `detach` may run concurrently
//    with every other.
//  - Nothing is left behind after the death of the process, nor after `detach`, but in the process
//    what a library of the network's can only give up with it.

#include <stddef.h>
#include <stdint.h>

namespace gex::net {

/// Version of both tables below; a plug-in of another version is refused in one line. Optional
/// members may be added at the end of either table without a new version: each begins with its
/// size.
inline constexpr uint32_t interface_version = 4;

enum Channel : uint32_t { request_channel = 0, reply_channel = 1 };

/// One contiguous piece of an outgoing message.
struct Piece {
  const void* data;
  size_t size;
};

/// The class of memory, by the numbers of gex_MK_Class_t: a memory kind is of one class, and of one
/// device. A conduit is shown memory of the classes that its `Conduit::capabilities` name, so none
/// that came after it.
enum MemoryClass : uint32_t {
  host_memory = 0,  ///< the processor's own
  cuda_memory = 1,
  hip_memory = 2,
  level_zero_memory = 3,
};
/// All numbers of classes are below this, those to come included.
inline constexpr uint32_t max_memory_classes = 8;

/// A segment's memory. Members may be added at the end.
struct SegmentMemory {
  void* address;  ///< on the device, if it is a device's
  size_t size;
  MemoryClass memory_class;
  uint32_t device;  ///< the number that the class's own interface gives it; 0 of host memory
  // These two are there where `Host` has `device_classes`.
  int32_t descriptor = -1;  ///< a dma-buf that holds a device's memory, or -1; libgex closes it
  uint64_t descriptor_offset = 0;  ///< of the segment in that
};

/// The most that `Limits::key_bytes` can be.
inline constexpr size_t max_key_bytes = 256;

/// The far end of a one-sided operation: memory inside a registered segment of a peer.
struct Remote {
  uint32_t peer;
  /// The segment's key, aligned to 8 bytes: what `Conduit::register_segment` wrote in its owner.
  /// libgex brings it to the peers and does not look into it. Valid until the call returns.
  const void* key;
  uint64_t address;  ///< in the peer's own address space
};

/// One contiguous piece of either end of a one-sided operation.
struct RemotePiece {
  uint64_t address;  ///< in the peer's own address space
  size_t size;
};
struct LocalPiece {
  void* data;  ///< of a put only read
  size_t size;
};

/// Where the segments lie that libgex allocates for the ranks of a neighborhood: a part of a memory
/// file. Map of it what is used, while it is used: it is as large as all segments may ever be, and
/// what is mapped is read by tools and written to core dumps.
struct SegmentFile {
  int descriptor;  ///< the caller's to close
  uint64_t offset;
  uint64_t size;
  const uint32_t* ranks;  ///< the neighborhood's, in rising order; they stay valid
  uint32_t count;         ///< of ranks
};

/// The question of a conduit over IP to `Host::choose_address`. Members may be added at the end.
struct AddressWish {
  /// The wish of this rank's user: an interface, an address or a subnet (eth0, 10.0.0.5,
  /// 10.0.0.0/16); empty: nothing.
  const char* named;
  const char* variables;  ///< by which users ask, for messages: "GEX_OFI_INTERFACE"
  /// Non-zero: hosts are asked by datagrams of UDP; zero: over connections of TCP.
  uint32_t datagrams = 0;
  /// Non-zero: the network can use but the first address of an interface.
  uint32_t first_of_interface = 0;
  /// The ports at which hosts can be asked, for firewalls; 0: the system chooses.
  uint16_t first_port = 0;
  uint16_t last_port = 0;
};

/// The answer.
struct ChosenAddress {
  char address[48];    ///< a number: "10.0.0.5", "fd00::5"
  char interface[16];  ///< whose it is: "eth0"
  /// One line, for `Conduit::transport`: the address, and why not others. Stays valid.
  const char* reason;
};

/// The functions and facts that libgex offers a conduit. Valid from `attach` to the return of
/// `detach`.
struct Host {
  uint32_t version;
  /// The size of this table. A libgex that is older than the plug-in's header has fewer members:
  /// one that does not lie within is not there.
  uint32_t bytes = sizeof(Host);
  uint32_t rank;      ///< this process's jobrank
  uint32_t size;      ///< ranks in the job
  uint32_t threaded;  ///< non-zero: calls may come from several threads at once

  /// Collective: all ranks give `bytes` bytes, `all` receives size * bytes in rank order.
  /// Only inside `attach`.
  void (*exchange)(const void* mine, size_t bytes, void* all) = nullptr;
  /// Collective over the ranks of one host, which all name the same `owner` among them: that one
  /// passes an open descriptor and gets it back, the others pass -1 and get a descriptor for the
  /// same open file; each closes its own. Only inside `attach`.
  int (*share_descriptor)(int descriptor, uint32_t owner) = nullptr;
  /// Collective over the ranks of one host, for a network between them: the file with the segments
  /// of `rank`, which is one of theirs. Only inside `attach`. Null where there are no such files.
  SegmentFile (*segment_file)(uint32_t rank) = nullptr;
  /// Where in that part of the file lies what this process has at an address, in one of its own
  /// segments. Returns 0, or non-zero: it is in none that lies there. Only inside
  /// `Conduit::register_segment`.
  int (*segment_place)(const void* address, uint64_t* offset) = nullptr;
  /// Index of the host a rank runs on.
  uint32_t (*host_of)(uint32_t rank) = nullptr;
  /// Non-zero: messages between this rank and that one go through shared memory, and never reach
  /// the conduit. The answers of two ranks about each other agree.
  uint32_t (*shares_memory)(uint32_t rank) = nullptr;
  /// Integer value of an environment variable of libgex's table (its default when unset).
  int64_t (*env_integer)(const char* name) = nullptr;
  /// Text of such a variable, null when it is not set. Stays valid.
  const char* (*env_text)(const char* name) = nullptr;
  /// A random number of this job's, the same on all ranks: by it strays of other jobs are known.
  uint64_t cookie = 0;

  /// Hands an arrived message up. `message` is aligned to 16 bytes and stays valid and unchanged
  /// until the call returns, which is after the message's handler has run.
  void (*deliver)(uint32_t source, Channel channel, const void* message, size_t size) = nullptr;

  /// One part of a one-sided operation is complete: `target` is what the operation was given. Once
  /// for each, out of any function of the conduit but `attach` and `detach`.
  void (*complete)(void* target) = nullptr;

  /// Ends the job with one line; does not return.
  void (*fatal)(const char* text) = nullptr;
  /// Ends the job because a peer cannot be reached any more. Waits some seconds, without polling,
  /// for the launcher to report how that peer ended; `text` is printed only if it does not.
  void (*lost_peer)(const char* text) = nullptr;
  void (*warn)(const char* text) = nullptr;
  /// One line that is printed with GEX_VERBOSE=1: what was chosen, and why.
  void (*inform)(const char* text) = nullptr;

  /// Collective, in a job of several hosts: which address of its host each rank uses, for a network
  /// that IP carries. The hosts ask one another at all of their addresses, and all ranks come to
  /// one choice, by which they reach each other. Returns 0, or non-zero on all ranks after a `warn`
  /// by one of them. Only inside `attach`.
  int (*choose_address)(const AddressWish* wish, ChosenAddress* chosen) = nullptr;

  /// Bit k: this machine may have memory of MemoryClass k, which a client may come to register.
  uint64_t device_classes = 0;

  /// As `exchange`; returns all of it, which stays valid until `detach` returns and is the same
  /// memory for all ranks of a host where it is much. Only inside `attach`.
  const void* (*exchange_shared)(const void* mine, size_t bytes) = nullptr;
  /// Collective: all ranks give `count` numbers, at most 32, each of which becomes the least that a
  /// rank has given in its place. It costs as much in a job of any size. Only inside `attach`.
  void (*least)(uint64_t* numbers, size_t count) = nullptr;
};

/// Returns true if this libgex has `least` and `exchange_shared`; one that is older than this
/// header may not.
inline bool has_least(const Host& host) {
  return host.bytes >= offsetof(Host, least) + sizeof host.least && host.least != nullptr;
}

/// Returns true if this libgex chooses addresses; one that is older than this header may not.
inline bool chooses_addresses(const Host& host) {
  return host.bytes >= offsetof(Host, choose_address) + sizeof host.choose_address &&
         host.choose_address != nullptr;
}

/// The classes of memory that this machine may have; 0 of a libgex that is older than this header.
inline uint64_t device_classes_of(const Host& host) {
  return host.bytes >= offsetof(Host, device_classes) + sizeof host.device_classes
             ? host.device_classes
             : 0;
}

/// The limits of a conduit; filled by `attach`, constant and equal on all ranks afterwards. Has
/// room for members to come, so that a conduit may assign all of it.
struct Limits {
  size_t max_message;       ///< largest message in bytes, all pieces together; at least 1024
  uint32_t reply_depth;     ///< undelivered replies of any size held per pair of ranks; at least 1
  size_t max_transfer = 0;  ///< largest put or get in bytes, where the conduit has them
  /// Messages of a channel held for one rank in all, of `reply_depth` from each peer: am/ gives
  /// each peer a share and lends the rest to those that need more. 0: room for all peers at a time.
  uint32_t total_depth = 0;
  /// Bytes of a segment's key: a multiple of 8, at most `max_key_bytes`.
  uint32_t key_bytes = 16;
  /// Pieces on the local side of a `put_pieces` or `get_pieces`. 0: the network has none in this
  /// job, and neither is called.
  uint32_t max_pieces = 0;
  /// Pieces on the peer's side of one; 0: as many as on the local side.
  uint32_t max_remote_pieces = 0;
  /// Non-zero: the network that was chosen in `attach` has no put and get, and `register_segment`
  /// refuses every segment. For reports only.
  uint32_t without_put = 0;
  uint32_t unused_half_word = 0;
  uint64_t unused_words[10] = {};
};
static_assert(sizeof(Limits) == 128, "plug-ins assign all of it");

enum SendResult : int {
  sent = 0,        ///< accepted; all pieces have been copied or lie in a buffer given back
  would_block = 1  ///< nothing was sent; try again after `poll`
};

/// Bits of `Conduit::capabilities`. libgex asks nothing of a conduit that it does not name.
enum Capability : uint64_t {
  registers_host_memory = 1U << host_memory,  ///< registers(host_memory)
  /// It joins the processes of one machine: a job with ranks on several is refused before `attach`.
  one_machine = 1U << (2 * max_memory_classes),
};
/// `register_segment` takes memory of that class, and refuses what it does not reach.
constexpr uint64_t registers(MemoryClass which) {
  return uint64_t{1} << which;
}
/// The local side of `put` and `get` may also be memory of that class of devices, in a segment that
/// `register_segment` has taken. The local side of other operations is the host's memory.
constexpr uint64_t transfers(MemoryClass which) {
  return uint64_t{1} << (max_memory_classes + which);
}
/// The capabilities among which are those that register memory of devices, of whatever class.
inline constexpr uint64_t all_device_registrations =
    registers(MemoryClass{max_memory_classes}) - registers(MemoryClass{1});

/// The room of `Conduit::prepare_wait`, in descriptors.
inline constexpr uint32_t max_wait_descriptors = 24;
/// Returned by it if the thread must not sleep now,
inline constexpr int32_t poll_again = -1;
/// and if this network cannot wake threads in this job: it is not asked again.
inline constexpr int32_t never_wakes = -2;

/// How good a network would be in a job, for the choice of one where none is named.
enum Standing : uint32_t {
  unusable = 0,      ///< `attach` would refuse
  by_processor = 1,  ///< processors or the kernel move the bytes, as sockets do
  by_hardware = 2,   ///< a network interface does, by itself
};

/// The state of the library that a conduit stands on, when a rank leaves the job.
enum Finalization : uint32_t {
  finalization_needless = 0,  ///< it is not initialized, or is finalized
  finalization_refused = 1,   ///< it is initialized, and the calling thread must not finalize it
  finalization_ready = 2,     ///< the calling thread may finalize it
};

/// The table of a conduit. Functions that are optional may be null.
struct Conduit {
  uint32_t version;  ///< interface_version
  /// The size of this table. A plug-in that was compiled against an older header of the same
  /// version has fewer members, and libgex takes those that it lacks as null.
  uint32_t bytes = sizeof(Conduit);
  const char* name;           ///< "emu": what GEX_CONDUIT and gexrun --conduit name
  const char* description;    ///< one line for gexinfo
  uint64_t capabilities = 0;  ///< Capability bits

  /// Joins the network; collective over the job. Returns 0, or non-zero after a `host->warn` with
  /// the reason why this network cannot be used here.
  int (*attach)(const Host* host, Limits* limits);

  /// Sends one message made of `count` pieces (at most 4) to `peer` (never this process's own
  /// rank). Never waits and never polls: answers `would_block` instead. The pieces may be reused
  /// once it has returned `sent`.
  SendResult (*send)(Channel channel, uint32_t peer, const Piece* pieces, size_t count);

  /// Delivers up to `max` arrived messages of the channels in `channels` (bit 0: requests, bit 1:
  /// replies); returns how many. Cheap when nothing has arrived. Moves on what is under way in
  /// either channel, even if it is to deliver nothing.
  size_t (*poll)(uint32_t channels, size_t max);

  /// Leaves the network; everything accepted by `send` before is still delivered to peers that
  /// poll, or leave themselves. May wait for them. A job ends with its processes instead.
  void (*detach)(void);

  /// Optional, both or neither. A place, aligned to 16 bytes, for a payload of `size` bytes to be
  /// built in, from which `send` on the same channel to the same peer need not copy when the last
  /// piece, be it empty, points to its start: null when none is free now or `size` is more than
  /// such a place holds. It may lie where the message will, so it counts as an undelivered message.
  /// When `send` from it answers `would_block` it stays the caller's. `release` gives an unsent one
  /// back.
  void* (*buffer)(Channel channel, uint32_t peer, size_t size) = nullptr;
  void (*release)(void* buffer) = nullptr;

  // One-sided operations, all optional. libgex makes of messages what is null here, and what
  // concerns a segment that `register_segment` refused. None of them waits or polls: each answers
  // `would_block` when there is no room now, and has done nothing then.

  /// Lets peers reach memory of this process, which stays where it is until `deregister_segment`.
  /// Returns 0 and writes the key, `Limits::key_bytes` bytes, or non-zero: this memory is not
  /// reached by one-sided operations. `memory` is of a class that `capabilities` names, and valid
  /// until the call returns. Where `put` or `atomic` is not null this pair is not either.
  int (*register_segment)(const SegmentMemory* memory, void* key) = nullptr;
  void (*deregister_segment)(const void* key) = nullptr;

  /// `put` and `get`: both or neither. Writes 1 to `Limits::max_transfer` bytes. `done` is
  /// completed when a later operation of any rank finds them at the peer; `local_done`, if it is
  /// not null, when the source may be reused, which is not after that and may be inside the call.
  /// With `local_done` null the source stays as it is until `done`.
  SendResult (*put)(const Remote* remote, const void* local, size_t size, void* done,
                    void* local_done) = nullptr;
  /// Reads as many; `done` is completed when they are in `local`.
  SendResult (*get)(const Remote* remote, void* local, size_t size, void* done) = nullptr;

  /// The operations on a type (GEX_DT_* of gasnetex.h) that the network carries out, as GEX_OP_*
  /// bits: all coherent with one another, the same on every rank.
  uint32_t (*atomic_operations)(uint32_t data_type) = nullptr;
  /// One of them, on one aligned object. Operands are read before the call returns; a fetching
  /// operation writes the former value to `result` before `done` is completed.
  SendResult (*atomic)(const Remote* remote, uint32_t data_type, uint32_t operation,
                       const void* operand1, const void* operand2, void* result,
                       void* done) = nullptr;

  /// Optional. For gexinfo, without a job: calls `fact` for each thing that the network would
  /// choose on this machine, with the reason. Of `host` only the `env_` functions are there.
  void (*describe)(const Host* host,
                   void (*fact)(void* context, const char* name, const char* text),
                   void* context) = nullptr;

  /// Optional, and only beside `put`. `put` and `put_pieces` may then be given a null `done` and a
  /// null `local_done`, both or neither: nothing is completed for that put by itself. `done` of a
  /// flush is completed once, when all puts of this kind that were accepted for the peer before the
  /// call, of whatever thread, are found there and their sources may be reused; inside the call if
  /// there are none. Puts that are accepted later do not hold it up for ever. Without a flush
  /// behind it libgex does not rely on such a put, but it arrives all the same.
  SendResult (*flush)(uint32_t peer, void* done) = nullptr;

  /// Both or neither, and only beside `put` and `get`: one operation that moves several pieces, so
  /// that a transfer which is contiguous at one end only, or at none, is not as many operations as
  /// it has pieces.
  ///
  /// All remote pieces lie in the segment of `remote`, whose `address` has no meaning. A list has
  /// at least 1 piece and at most as many as `Limits` has for its side, none of them empty. The
  /// bytes of the one list, in the order of its pieces, are those of the other, however differently
  /// both are cut: the same number, 1 to `Limits::max_transfer`. libgex keeps these bounds, so a
  /// conduit need not refuse more; it cuts what has more. Pieces that are read may overlap; where
  /// some that are written do, which is a client's mistake, any of their bytes may be what stays.
  ///
  /// An operation is accepted whole or answered with `would_block`, having done nothing. Either way
  /// both lists, and `remote` with its key, are the caller's again when the call has returned: a
  /// conduit that needs them longer copies them. The memory that they describe is in use until
  /// `done` is completed, of a put until `local_done` is: as of `put` and `get`, once each for the
  /// whole operation. Order is promised neither between the pieces nor between operations, and a
  /// peer may see some of the bytes before others. The local pieces are memory of the host; the
  /// remote ones may be a device's, as of `put` and `get`.
  SendResult (*put_pieces)(const Remote* remote, const RemotePiece* to, size_t to_count,
                           const LocalPiece* from, size_t from_count, void* done,
                           void* local_done) = nullptr;
  SendResult (*get_pieces)(const Remote* remote, const RemotePiece* from, size_t from_count,
                           const LocalPiece* to, size_t to_count, void* done) = nullptr;

  /// Optional. Gives the calling thread a lane, a small number from 0, before its first put, get or
  /// atomic operation: no other thread gets the same until it has ended. A conduit may keep it in a
  /// thread-local variable and give each lane queues of its own. A thread that only sends and polls
  /// may have none.
  void (*enter_lane)(uint32_t lane) = nullptr;

  /// Optional: how good this network would be between ranks that do not share memory, on one host
  /// or on several. Calls `reason` once, with what it would use, or why it cannot be used here.
  /// Null: `by_processor`. Called by one rank of each host before `attach`, which may not follow,
  /// and by gexinfo. Of `host` only the `env_` functions and `threaded` are there; nothing is left
  /// open.
  Standing (*standing)(const Host* host, uint32_t several_hosts,
                       void (*reason)(void* context, const char* text), void* context) = nullptr;

  /// Optional, while attached: which of its ways this network takes to `peer`, as its users name
  /// it ("verbs;ofi_rxm"), and why that one; either may be left null. Both texts stay valid. Users
  /// ask for one with GEX_REQUIRE=NAME:WAY, which is all of the name or words of it in a row; words
  /// end at any of " ,;:/+".
  void (*transport)(uint32_t peer, const char** name, const char** reason) = nullptr;

  /// Optional, while attached: what the network has counted, for users. Calls `line` for each line.
  /// Called with GEX_VERBOSE=1 when the rank ends, beside other calls, which it does not wait for.
  void (*report)(void (*line)(void* context, const char* text), void* context) = nullptr;

  /// Optional. A thread that waits has found nothing in `poll` and is about to sleep in the kernel.
  /// Makes the network wake it when there is something for a poll to do, and answers with the
  /// descriptors that can be read then: writes up to `max` of them, which is at least
  /// `max_wait_descriptors`, and returns how many. Returns `poll_again`, and nothing need be armed,
  /// if there may be something to do already, or if anything has come since the last call, be it a
  /// put, of which `poll` reports nothing: the caller polls for a while before it asks again.
  ///
  /// A message that arrives between the last poll and the sleep must make it readable too, even if
  /// another thread polls meanwhile. A descriptor may be readable for nothing, but not for long.
  ///
  /// `limit_ns` is for how long the caller will sleep at most. The conduit lowers it to when it has
  /// to be polled in any case: to send something again, to go on with what it has deferred, to show
  /// peers that it is there. Nothing ends when the sleep does; polls and sends of other threads go
  /// on during it. libgex has one thread sleep like this at a time.
  ///
  /// Null, or `never_wakes` in the first call, which is made when the rank has joined and starts no
  /// sleep: ranks that wait for this network poll all the time, and pause for some tens of
  /// microseconds where other programs are seen to take the core.
  int32_t (*prepare_wait)(int* descriptors, uint32_t max, uint64_t* limit_ns) = nullptr;

  /// All three or none, for a network whose library all processes must finalize together, as MPI
  /// is. `finalizer` is the name of that call, for messages. When a rank leaves the job with status
  /// 0 libgex asks `finalization`; if no rank refuses, each whose library is ready calls `finalize`
  /// once all have left. It is the last call that a conduit gets. `by_exit` is non-zero where the
  /// client has called exit or returned from main, and has had its chance to finalize what it has
  /// initialized itself; 0: it has called gasnet_exit. Any thread asks, also in a signal handler.
  const char* finalizer = nullptr;
  Finalization (*finalization)(uint32_t by_exit) = nullptr;
  void (*finalize)(void) = nullptr;
};

/// The one symbol a plug-in exports, named for the version:
///   extern "C" const gex::net::Conduit* gex_conduit_v4(void);
using Entry = const Conduit* (*)();
inline constexpr const char* entry_symbol = "gex_conduit_v4";
static_assert(interface_version == 4, "the symbol's name contains the version");

}  // namespace gex::net
