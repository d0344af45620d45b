// Bytes that a network delivers as active messages: what a peer sends is
// read as it was meant, and nothing else reaches beyond its end. Every message lies in a block of
// exactly its size, so that AddressSanitizer sees what does.

#include "am/handlers.h"
#include "am/lender.h"
#include "am/wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"

namespace gex::am {
namespace {

constexpr std::uint32_t source = 3;

/// Bytes in a block of their own size, aligned as `Host::deliver` promises.
class Block {
 public:
  explicit Block(const std::vector<std::byte>& bytes) : Block(bytes, bytes.size()) {}
  /// The first `size` of them.
  Block(const std::vector<std::byte>& bytes, std::size_t size)
      : bytes_(new std::byte[size]), size_(size) {
    std::copy_n(bytes.begin(), size, bytes_.get());
  }
  const std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  bool holds(const void* start, std::size_t bytes) const {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(start) - reinterpret_cast<std::uintptr_t>(bytes_.get());
    return offset <= size_ && bytes <= size_ - offset;
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_;
};

/// A message as a client's call makes it.
struct Sent {
  Outbound message;
  std::uint16_t credits = 0;
  Terms terms;
  std::vector<gex_AM_Arg_t> args;
  std::vector<std::byte> payload;

  Sent(Random& random, Category category, bool reply, unsigned arg_count, std::size_t size) {
    args.resize(wire_args(arg_count) / sizeof(gex_AM_Arg_t));
    for (gex_AM_Arg_t& arg : args) arg = static_cast<gex_AM_Arg_t>(random());
    payload.resize(size);
    for (std::byte& byte : payload) byte = static_cast<std::byte>(random());
    const auto handler = static_cast<std::uint8_t>(GEX_AM_INDEX_BASE + random.below(128));
    message.what = MessageWhat::make(handler, category, reply, arg_count, {});
    message.what.set_endpoints(Endpoints::make(static_cast<unsigned>(random.below(max_clients)),
                                               static_cast<unsigned>(random.below(max_endpoints)),
                                               static_cast<unsigned>(random.below(max_endpoints))));
    message.args = args.data();
    message.payload = payload.data();
    message.size = size;
    if (category == Category::long_message) message.destination = reinterpret_cast<void*>(random());
    credits = static_cast<std::uint16_t>(random());
    terms.lent = random() & Lender::max_per_message;
    terms.returned = random() & Lender::max_per_message;
    terms.starved = random.below(2) != 0;
    terms.asks = random.below(2) != 0;
    terms.answers = random.below(2) != 0;
  }

  net::Channel channel() const {
    return message.what.is_reply() ? net::reply_channel : net::request_channel;
  }
  std::vector<std::byte> bytes() const {
    const WireMessage wire(message, source, credits, terms);
    std::vector<std::byte> all;
    for (std::size_t i = 0; i < wire.count; ++i) {
      const auto* const piece = static_cast<const std::byte*>(wire.pieces[i].data);
      all.insert(all.end(), piece, piece + wire.pieces[i].size);
    }
    return all;
  }
};

/// All categories, directions and argument counts, with no, little and much payload.
std::vector<Sent> all_shapes() {
  Random random(1);
  std::vector<Sent> shapes;
  for (const bool reply : {false, true}) {
    for (unsigned arg_count = 0; arg_count <= max_args; ++arg_count) {
      shapes.emplace_back(random, Category::short_message, reply, arg_count, 0);
      for (const std::size_t size :
           {std::size_t{0}, std::size_t{1}, std::size_t{48}, std::size_t{200}}) {
        shapes.emplace_back(random, Category::medium, reply, arg_count, size);
        shapes.emplace_back(random, Category::long_message, reply, arg_count, size);
      }
    }
    shapes.emplace_back(random, Category::medium, reply, max_args, max_medium_payload);
    shapes.emplace_back(random, Category::long_message, reply, 3, std::size_t{1} << 20);
  }
  return shapes;
}

const char* flaw_of(const Block& block, net::Channel channel, WireArrival& arrival) {
  return read_message(source, channel, block.data(), block.size(), arrival);
}

/// Reads everything that a handler of the message may read.
void expect_within(const Block& block, const WireArrival& arrival) {
  const Arrived& message = arrival.message;
  const unsigned arg_count = message.header.arg_count();
  ASSERT_LE(arg_count, max_args);
  ASSERT_TRUE(block.holds(message.args, arg_count * sizeof(gex_AM_Arg_t)));
  ASSERT_LE(message.header.category(), Category::long_message);
  const void* payload = nullptr;
  if (message.header.category() == Category::short_message) {
    ASSERT_EQ(message.size, 0u);
  } else if (message.header.category() == Category::medium) {
    ASSERT_LE(message.size, max_medium_payload);
    payload = message.payload;
  } else {
    payload = arrival.to_place;
  }
  ASSERT_TRUE(payload == nullptr || block.holds(payload, message.size));
  // Reading them is what AddressSanitizer checks.
  const std::size_t size = payload != nullptr ? message.size : 0;
  std::vector<std::byte> read(size + arg_count * sizeof(gex_AM_Arg_t));
  if (size != 0) std::memcpy(read.data(), payload, size);
  if (arg_count != 0)
    std::memcpy(read.data() + size, message.args, arg_count * sizeof(gex_AM_Arg_t));
}

TEST(Wire, WhatIsSentIsReadAsItWasMeant) {
  for (const Sent& sent : all_shapes()) {
    const Block block(sent.bytes());
    WireArrival arrival;
    ASSERT_STREQ(flaw_of(block, sent.channel(), arrival), nullptr);
    const Arrived& found = arrival.message;
    EXPECT_EQ(found.header.what.word, sent.message.what.word);
    EXPECT_EQ(found.header.source, source);
    EXPECT_EQ(found.ring, nullptr);
    EXPECT_EQ(arrival.credits, sent.credits);
    EXPECT_EQ(arrival.terms, sent.terms);
    EXPECT_FALSE(arrival.is_credits());
    EXPECT_TRUE(
        std::equal(found.args, found.args + sent.message.what.arg_count(), sent.args.begin()));
    ASSERT_EQ(found.size, sent.payload.size());
    const bool is_long = sent.message.what.category() == Category::long_message;
    if (is_long) {
      EXPECT_EQ(found.payload, sent.message.destination);
    } else {
      EXPECT_EQ(arrival.to_place, nullptr);
    }
    const void* const payload = is_long ? arrival.to_place : found.payload;
    if (found.size != 0) {
      EXPECT_EQ(std::memcmp(payload, sent.payload.data(), found.size), 0);
      EXPECT_TRUE(is_long || reinterpret_cast<std::uintptr_t>(payload) % 16 == 0);
    }
    expect_within(block, arrival);
  }
}

TEST(Wire, APayloadThatHasGoneAheadIsNotAmongTheBytes) {
  int destination = 0;
  Outbound message;
  message.what.set_category(Category::long_message);
  message.size = std::size_t{1} << 40;
  message.destination = &destination;
  message.placed = true;
  const WireMessage wire(message, source, 0, {});
  std::vector<std::byte> bytes;
  for (const net::Piece& piece : std::span(wire.pieces, wire.count)) {
    const auto* const begin = static_cast<const std::byte*>(piece.data);
    bytes.insert(bytes.end(), begin, begin + piece.size);
  }
  EXPECT_EQ(bytes.size(), sizeof(WirePrefix) + sizeof(LongPrefix));
  WireArrival arrival;
  ASSERT_STREQ(flaw_of(Block(bytes), net::request_channel, arrival), nullptr);
  EXPECT_EQ(arrival.to_place, nullptr);
  EXPECT_EQ(arrival.message.payload, &destination);
  EXPECT_EQ(arrival.message.size, message.size);

  bytes.resize(bytes.size() + 16);
  EXPECT_STRNE(flaw_of(Block(bytes), net::request_channel, arrival), nullptr);
}

TEST(Wire, CreditsTravelAlone) {
  Outbound message;
  message.what = MessageWhat::make(credits_handler, Category::short_message, true, 0, {});
  const WireMessage wire(message, source, 7, {});
  ASSERT_EQ(wire.count, 1u);
  const auto* const prefix = reinterpret_cast<const std::byte*>(&wire.prefix);
  std::vector<std::byte> bytes(prefix, prefix + sizeof wire.prefix);
  WireArrival arrival;
  ASSERT_STREQ(flaw_of(Block(bytes), net::reply_channel, arrival), nullptr);
  EXPECT_TRUE(arrival.is_credits());
  EXPECT_EQ(arrival.credits, 7);

  bytes.resize(bytes.size() + 16);
  EXPECT_STRNE(flaw_of(Block(bytes), net::reply_channel, arrival), nullptr);
  const std::uint32_t with_argument =
      MessageWhat::make(credits_handler, Category::short_message, true, 1, {}).word;
  std::memcpy(bytes.data() + offsetof(WirePrefix, header), &with_argument, sizeof with_argument);
  EXPECT_STRNE(flaw_of(Block(bytes), net::reply_channel, arrival), nullptr);
}

TEST(Wire, UnknownTermsAreNotTaken) {
  const Outbound message;
  WireMessage wire(message, source, 0, {});
  wire.prefix.terms.spare = true;
  const auto* const prefix = reinterpret_cast<const std::byte*>(&wire.prefix);
  WireArrival arrival;
  EXPECT_STRNE(flaw_of(Block({prefix, prefix + sizeof wire.prefix}), net::request_channel, arrival),
               nullptr);
}

TEST(Wire, NothingThatIsCutIsTaken) {
  for (const Sent& sent : all_shapes()) {
    std::vector<std::byte> bytes = sent.bytes();
    // The ends of large payloads are alike.
    const std::size_t max = std::min<std::size_t>(bytes.size(), 400);
    WireArrival arrival;
    for (std::size_t size = 0; size < max; ++size)
      ASSERT_STRNE(flaw_of(Block(bytes, size), sent.channel(), arrival), nullptr)
          << size << " of " << bytes.size();
    bytes.pop_back();
    ASSERT_STRNE(flaw_of(Block(bytes), sent.channel(), arrival), nullptr);
  }
}

TEST(Wire, NothingThatIsLongerThanItsSizeIsTaken) {
  for (const Sent& sent : all_shapes()) {
    std::vector<std::byte> bytes = sent.bytes();
    for (const std::size_t more : {1, 16}) {
      bytes.resize(bytes.size() + more);
      WireArrival arrival;
      EXPECT_STRNE(flaw_of(Block(bytes), sent.channel(), arrival), nullptr);
    }
  }
}

TEST(Wire, NothingOfAnotherSourceOrChannelIsTaken) {
  Random random(2);
  for (const bool reply : {false, true}) {
    const Sent sent(random, Category::medium, reply, 2, 8);
    const Block block(sent.bytes());
    WireArrival arrival;
    EXPECT_STREQ(read_message(source + 1, sent.channel(), block.data(), block.size(), arrival),
                 "it names another source");
    EXPECT_STREQ(flaw_of(block, reply ? net::request_channel : net::reply_channel, arrival),
                 "on the wrong channel");
  }
}

TEST(Wire, NoMessageHasMoreThanThereCanBe) {
  Random random(3);
  WireArrival arrival;
  const Sent large(random, Category::medium, false, 0, max_medium_payload + 1);
  EXPECT_STREQ(flaw_of(Block(large.bytes()), net::request_channel, arrival),
               "a medium message above the limit");
  Sent many(random, Category::short_message, false, max_args, 0);
  many.message.what = MessageWhat::make(many.message.what.handler(), many.message.what.category(),
                                        false, max_args + 1, {});
  many.args.resize(32);
  many.message.args = many.args.data();
  EXPECT_STREQ(flaw_of(Block(many.bytes()), net::request_channel, arrival), "too many arguments");
  Sent unknown(random, static_cast<Category>(3), false, 0, 0);
  EXPECT_STREQ(flaw_of(Block(unknown.bytes()), net::request_channel, arrival),
               "an unknown category");
}

TEST(Wire, ALongMessageOfAHugeSizeIsNotTaken) {
  Random random(4);
  const Sent sent(random, Category::long_message, false, 1, 32);
  const std::vector<std::byte> bytes = sent.bytes();
  const std::size_t place = sizeof(WirePrefix) + wire_args(1) + offsetof(LongPrefix, size);
  // Sizes for which the end of the payload, computed carelessly, wraps to the end of the message.
  for (const std::uint64_t off : {std::uint64_t{0}, std::uint64_t{1} << 32, std::uint64_t{1} << 63})
    for (std::uint64_t size = off - 80; size != off + 80; ++size) {
      std::vector<std::byte> changed = bytes;
      std::memcpy(changed.data() + place, &size, sizeof size);
      WireArrival arrival;
      const bool is_taken = flaw_of(Block(changed), net::request_channel, arrival) == nullptr;
      ASSERT_EQ(is_taken, size == 32) << size;
    }
}

/// Reads bytes of unknown origin, on a channel of chance; whether they are taken.
bool is_taken(Random& random, const std::vector<std::byte>& bytes) {
  const Block block(bytes);
  WireArrival arrival;
  const auto channel = static_cast<net::Channel>(random.below(2));
  if (flaw_of(block, channel, arrival) != nullptr) return false;
  expect_within(block, arrival);
  return true;
}

/// Changes a few bits, bytes or words, for values that could be right more often than chance would.
void mutate(Random& random, std::vector<std::byte>& bytes) {
  for (std::uint64_t changes = 1 + random.below(4); changes != 0 && !bytes.empty(); --changes) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0:
        bytes[at] ^= std::byte{1} << random.below(8);
        break;
      case 1:
        bytes[at] = static_cast<std::byte>(random());
        break;
      case 2: {
        const std::uint64_t word =
            random.below(2) == 0 ? random.below(64) : std::uint64_t{0} - random.below(64);
        std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
        break;
      }
      case 3:
        bytes.resize(at);
        break;
      default:
        bytes.resize(bytes.size() + random.below(40));
        break;
    }
  }
}

TEST(Wire, WhatIsTakenOfChangedMessagesLiesWithinThem) {
  std::vector<std::vector<std::byte>> valid;
  for (const Sent& sent : all_shapes())
    if (sent.payload.size() <= 200) valid.push_back(sent.bytes());
  std::size_t taken = 0;
  for (std::uint64_t seed = 0; seed < 60'000; ++seed) {
    Random random(seed, 5);
    std::vector<std::byte> bytes = valid[random.below(valid.size())];
    mutate(random, bytes);
    taken += is_taken(random, bytes) ? 1 : 0;
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(taken, 1000u) << "changes that touch payload only are to be among them";
}

TEST(Wire, WhatIsTakenOfGarbageLiesWithinIt) {
  std::size_t taken = 0;
  for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
    Random random(seed, 6);
    std::vector<std::byte> bytes(random.below(160));
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random.below(3) == 0 ? random() : 0);
    // Few get past the source, which is a word.
    const std::size_t place = offsetof(WirePrefix, header) + offsetof(MessageHeader, source);
    if (bytes.size() >= place + sizeof source)
      std::memcpy(bytes.data() + place, &source, sizeof source);
    taken += is_taken(random, bytes) ? 1 : 0;
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(taken, 100u);
}

MessageHeader header_of(std::uint8_t handler, Category category, bool reply, unsigned arg_count) {
  return {MessageWhat::make(handler, category, reply, arg_count, {}), source, 0};
}

struct Sample {
  std::uint32_t first;
  Wide wide;
  std::int32_t last;
};

TEST(Internal, ArgumentsAreAStructure) {
  static_assert(arguments_of<Sample> == 4);
  int object = 0;
  const Packed packed(Sample{7, Wide(&object), -3});
  const Internal kind("sample");
  const Outbound message = packed.message_for(kind);
  EXPECT_EQ(message.what.arg_count(), 4);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.args) % 16, 0u);
  EXPECT_EQ(message.args[0], 7);
  EXPECT_EQ(message.args[3], -3);
  const auto read = unpack<Sample>(message.args);
  EXPECT_EQ(read.first, 7u);
  EXPECT_EQ(read.wide.as<int*>(), &object);
  EXPECT_EQ(read.last, -3);
  EXPECT_EQ(std::uint64_t{Wide(0x123456789abcdef0)}, 0x123456789abcdef0);
}

TEST(Internal, TakesOnlyWhatItsHandlerReads) {
  const InternalHandler nothing = [](gex_Token_t, void*, std::size_t,
                                     const gex_AM_Arg_t*) noexcept {};
  Internal put_message("put");
  Internal done_message("done", Internal::runs_client_code);
  register_internal(put_message, nothing, {.is_reply = false, .arg_count = 4});
  register_internal(done_message, nothing, {.is_reply = true, .arg_count = 2});
  const std::uint8_t put = put_message.handler();
  const std::uint8_t done = done_message.handler();
  EXPECT_NE(put, credits_handler);
  EXPECT_NE(done, put);
  EXPECT_FALSE(runs_client_code(put));
  EXPECT_TRUE(runs_client_code(done));
  EXPECT_TRUE(runs_client_code(GEX_AM_INDEX_BASE));
  EXPECT_TRUE(fits_internal(header_of(put, Category::medium, false, 4)));
  EXPECT_TRUE(fits_internal(header_of(done, Category::short_message, true, 2)));
  for (unsigned arg_count = 0; arg_count < 4; ++arg_count)
    EXPECT_FALSE(fits_internal(header_of(put, Category::medium, false, arg_count))) << arg_count;
  EXPECT_FALSE(fits_internal(header_of(put, Category::medium, false, 5))) << "one too many";
  EXPECT_FALSE(fits_internal(header_of(put, Category::medium, true, 4))) << "a reply";
  EXPECT_FALSE(fits_internal(header_of(done, Category::short_message, false, 2))) << "a request";
  EXPECT_FALSE(fits_internal(header_of(put, Category::long_message, false, 4)));
  EXPECT_FALSE(fits_internal(header_of(credits_handler, Category::short_message, false, 16)))
      << "which has no handler";
  for (unsigned index = done + 1U; index < GEX_AM_INDEX_BASE; ++index)
    EXPECT_FALSE(fits_internal(
        header_of(static_cast<std::uint8_t>(index), Category::short_message, false, 16)));
}

TEST(Handler, IsCalledOnlyAsItWasRegistered) {
  gex_AM_Entry_t entry{};
  const auto fits = [&](Category category, bool reply, unsigned arg_count) {
    return fits_entry(entry, header_of(200, category, reply, arg_count));
  };
  entry.gex_flags = GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST;
  entry.gex_nargs = 2;
  EXPECT_FALSE(fits(Category::medium, false, 2)) << "not registered";
  entry.gex_fnptr = reinterpret_cast<gex_AM_Fn_t>(+[] {});
  EXPECT_TRUE(fits(Category::medium, false, 2));
  EXPECT_TRUE(fits(Category::long_message, false, 2));
  EXPECT_FALSE(fits(Category::short_message, false, 2)) << "its arguments would be the payload";
  EXPECT_FALSE(fits(Category::medium, true, 2));
  EXPECT_FALSE(fits(Category::medium, false, 1));
  EXPECT_FALSE(fits(Category::medium, false, 3));
  entry.gex_nargs = any_arg_count;
  EXPECT_TRUE(fits(Category::medium, false, 16));
}

}  // namespace
}  // namespace gex::am
