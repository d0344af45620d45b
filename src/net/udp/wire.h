#pragma once
// The layout of datagrams.
//
// A datagram is a header and, behind it, records up to its end. Every datagram acknowledges what
// its sender has received from its receiver; one that carries records that must not be lost is
// `sequenced` and is repeated until it is acknowledged. A record is a message, a part of one that
// is larger than a datagram, bytes of a put or of the answer to a get, or a get.
//
// A receive buffer begins 8 bytes before a multiple of 16, and every record at such a place, so
// that the data of each lies at a multiple of 16, as `Host::deliver` promises.
//
// Everything read here is data of unknown origin until its tag is found right
// (Receiver::sender_of), and is checked even then: `Records` ends at what does not lie within the
// datagram.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gex::net::udp {

enum HeaderFlag : std::uint8_t {
  sequenced = 1,        ///< has a sequence number and records
  acknowledge_now = 2,  ///< its sender waits for the acknowledgement
  no_requests = 8,      ///< its sender has no room for requests now
  leaving = 16,         ///< the last datagram of its sender
  kept_waiting = 32,    ///< its sender did not poll for a while, and acknowledges some of that time
  bulk = 64,            ///< of a put's or a get's data only the record's beginning is authenticated
};

struct Header {
  std::uint64_t tag;            ///< of everything else, see seal.h
  std::uint32_t number;         ///< the lower half of the datagram's, among all that go this way
  std::uint32_t sequence;       ///< of a sequenced datagram
  std::uint32_t next_expected;  ///< all sequence numbers before this one have been received
  std::uint32_t received;       ///< bit i: so has next_expected + 1 + i
  std::uint32_t source : 24;    ///< jobrank
  std::uint32_t flags : 8;      ///< HeaderFlag bits
  std::uint16_t window;         ///< what may be in flight to this sender, in `window_unit`
  std::uint16_t size;           ///< of the datagram in bytes: several may arrive joined
};
static_assert(sizeof(Header) == 32);

inline constexpr std::uint32_t max_ranks = 1U << 24;

/// Bytes of kernel memory that a unit of `Header::window` stands for.
inline constexpr std::size_t window_unit = 512;

enum class RecordKind : std::uint8_t {
  request = request_channel,
  reply = reply_channel,
  request_part = 2,
  reply_part = 3,
  put = 4,
  get = 5,
  get_data = 6,
  received = 7,  ///< a longer list of received sequence numbers than the header has room for
  probe = 8,     ///< nothing: whether a datagram of that size arrives
  probe_answer = 9,
  fragment =
      10,  ///< some bytes of what follows the header of the datagram with this sequence number
};
inline constexpr RecordKind last_kind = RecordKind::fragment;

struct Record {
  std::uint32_t size;  ///< bytes of data, without the details before them
  RecordKind kind;
  std::uint8_t unused[3];
};
static_assert(sizeof(Record) == 8);

/// Details of a part of a message.
struct PartDetails {
  std::uint32_t number;  ///< of the message, among those of its sender to this receiver
  std::uint32_t total;   ///< bytes of the message
  std::uint32_t offset;
  std::uint32_t unused;
  std::uint64_t unused_too;
};
struct PutDetails {
  std::uint64_t address;
  std::uint32_t segment;  ///< a `SegmentKey`'s
  std::uint32_t unused;
  std::uint64_t unused_too;
};
struct GetDataDetails {
  std::uint64_t offset;
  std::uint32_t get;  ///< the number that the request gave it
  std::uint32_t unused;
  std::uint64_t unused_too;
};
/// Details of a get, which has no data.
struct GetDetails {
  std::uint64_t address;
  std::uint64_t size;
  std::uint32_t segment;
  std::uint32_t get;
  std::uint64_t unused;
};
/// Details of a probe, and of its answer.
struct ProbeDetails {
  std::uint32_t round;
  std::uint32_t index;
  std::uint64_t unused[2];
};
/// Details of a part of a datagram that was too large for the path when it was to be sent.
struct FragmentDetails {
  std::uint32_t total;   ///< bytes behind the header of the whole
  std::uint32_t offset;  ///< a multiple of `fragment_unit`
  std::uint64_t unused[2];
};
/// The size of every fragment but a datagram's last is a multiple of this, in bytes.
inline constexpr std::size_t fragment_unit = 64;
/// With header and record whole cache lines: some processors copy slowly, as the kernel does, what
/// is to lie 8 bytes further in its page than it did.
inline constexpr std::size_t details_size = 24;
static_assert(sizeof(PartDetails) == details_size && sizeof(PutDetails) == details_size &&
              sizeof(GetDataDetails) == details_size && sizeof(ProbeDetails) == details_size &&
              sizeof(FragmentDetails) == details_size);
static_assert(sizeof(GetDetails) % 16 == 0);

/// Bytes before the data of a record that begins a datagram and has details.
inline constexpr std::size_t front_size = sizeof(Header) + sizeof(Record) + details_size;
static_assert(front_size == 64);

constexpr std::size_t padded(std::size_t size) noexcept {
  return (size + 15) & ~std::size_t{15};
}

/// Bytes that a record takes, the padding behind it included.
constexpr std::size_t record_size(std::size_t details_and_data) noexcept {
  return padded(sizeof(Record) + details_and_data);
}

/// How many bytes of details a kind has.
constexpr std::size_t details_of(RecordKind kind) noexcept {
  switch (kind) {
    case RecordKind::request_part:
    case RecordKind::reply_part:
    case RecordKind::put:
    case RecordKind::get_data:
    case RecordKind::probe:
    case RecordKind::probe_answer:
    case RecordKind::fragment:
      return details_size;
    case RecordKind::get:
      return sizeof(GetDetails);
    case RecordKind::request:
    case RecordKind::reply:
    case RecordKind::received:
      break;
  }
  return 0;
}

/// Writes what a record of `size` bytes of data begins with; returns where its details belong.
inline std::byte* write_record(std::byte* to, RecordKind kind, std::size_t size) noexcept {
  const Record record{static_cast<std::uint32_t>(size), kind, {}};
  std::memcpy(to, &record, sizeof record);
  return to + sizeof record;
}

/// The records of a datagram in turn.
///
///   Records records(bytes, size);
///   while (records.next()) use(records.kind(), records.data(), records.size());
///   if (records.malformed()) ...
class Records {
 public:
  /// All bytes of a datagram behind its header.
  Records(const std::byte* bytes, std::size_t size) noexcept : at_(bytes), left_(size) {}

  bool next() noexcept {
    if (left_ < sizeof(Record)) {
      malformed_ |= left_ != 0;
      return false;
    }
    Record record;
    std::memcpy(&record, at_, sizeof record);
    const std::size_t details = details_of(record.kind);
    if (record.kind > last_kind || std::size_t{record.size} + details > left_ - sizeof record) {
      malformed_ = true;
      return false;
    }
    kind_ = record.kind;
    details_ = at_ + sizeof record;
    data_ = details_ + details;
    size_ = record.size;
    const std::size_t whole = record_size(details + size_);
    // Behind the last one there need not be padding.
    at_ += whole < left_ ? whole : left_;
    left_ -= whole < left_ ? whole : left_;
    return true;
  }

  RecordKind kind() const noexcept { return kind_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  template <class Details>
  Details details() const noexcept {
    Details details;
    std::memcpy(&details, details_, sizeof details);
    return details;
  }
  bool malformed() const noexcept { return malformed_; }

 private:
  const std::byte* at_;
  std::size_t left_;
  const std::byte* details_ = nullptr;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  RecordKind kind_ = RecordKind::request;
  bool malformed_ = false;
};

}  // namespace gex::net::udp
