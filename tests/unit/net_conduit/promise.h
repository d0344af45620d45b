#pragma once
// The common part of the tests of the conduits' promises: the conduits, messages that can be
// recognised, and a fixture.

#include <gex/plugin/conduit.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../recognisable.h"
#include "forked_host.h"
#include "net/registry.h"

namespace gex::net::test {
namespace {

constexpr std::size_t everything = SIZE_MAX;
constexpr std::uint32_t replies = 1u << reply_channel;
constexpr std::uint32_t both = 1u << request_channel | replies;

/// Why the descriptors and mappings of a process may be more after `detach` than before `attach`.
enum class Kept {
  nothing,
  library,  ///< is initialized once, and then stays
  parts,    ///< of every job joined: the library cannot give them up safely before the process ends
};

struct Subject {
  const char* label;
  const char* name;  ///< as in GEX_CONDUIT
  std::map<std::string, std::int64_t> environment = {};
  std::map<std::string, std::string> texts = {};
  bool crosses_hosts = false;
  bool reaches_any_memory = false;  ///< by put and get
  bool frees_sources_early = true;  ///< of puts, before the peer has the bytes
  bool completes_in_order = false;  ///< behind an operation to a peer that does nothing, none
  /// A sender that does not poll, nor leaves, may keep back what was accepted as sent.
  bool manual_progress = false;
  Kept keeps = Kept::nothing;  ///< in the process, after `detach`

  JobOptions options() const { return {.environment = environment, .texts = texts, .hosts = {}}; }
};

// The subjects of each network of src/net: src/net/<name>/promises.inc, as a list
// `<name>_subjects`.
#define GEX_SUBJECTS(name) const std::vector<Subject> name##_subjects
#include <declared_promises.inc>

const std::vector<Subject> conduits = [] {
  std::vector<Subject> all{{"example", GEX_EXAMPLE_CONDUIT},
                           {.label = "vm",
                            .name = GEX_VM_CONDUIT,
                            .reaches_any_memory = true,
                            .frees_sources_early = false}};
  for (const std::vector<Subject>& some : declared_subjects())
    all.insert(all.end(), some.begin(), some.end());
  return all;
}();

/// A message that can be recognised: its first bytes are its source and number, the others follow
/// from it.
std::vector<unsigned char> message_of(std::uint32_t sender, std::uint32_t number,
                                      std::size_t size) {
  std::vector<unsigned char> bytes(std::max(size, 2 * sizeof(std::uint32_t)));
  std::memcpy(bytes.data(), &sender, sizeof sender);
  std::memcpy(bytes.data() + sizeof sender, &number, sizeof number);
  constexpr std::size_t fixed = sizeof sender + sizeof number;
  gex::test::fill_recognisably(bytes.data() + fixed, bytes.size() - fixed, sender, number);
  return bytes;
}

struct Stamp {
  std::uint32_t sender;
  std::uint32_t number;
};

/// Checks every byte of an arrived message.
Stamp stamp_of(const void* message, std::size_t size) {
  Stamp stamp{};
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message) % 16, 0u);
  if (size < sizeof stamp) {
    ADD_FAILURE() << "a message of " << size << " bytes";
    return stamp;
  }
  std::memcpy(&stamp, message, sizeof stamp);
  const auto expected = message_of(stamp.sender, stamp.number, size);
  EXPECT_EQ(std::memcmp(expected.data(), message, size), 0)
      << "message " << stamp.number << " of " << stamp.sender << ", " << size << " bytes";
  return stamp;
}

class ConduitPromise : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override { conduit = find(GetParam().name); }

  /// Runs an attached body on `ranks` ranks and expects all of them to succeed.
  void on_ranks(std::uint32_t ranks, bool threaded,
                const std::function<void(const Host&, const Limits&)>& body) {
    JobOptions options = GetParam().options();
    options.threaded = threaded;
    const Outcome outcome = run_ranks(ranks, options, [&](const Host& host) {
      Limits limits{};
      ASSERT_EQ(conduit->attach(&host, &limits), 0);
      body(host, limits);
      barrier_with_progress();
      conduit->detach();
    });
    EXPECT_TRUE(outcome.succeeded()) << outcome.message;
  }

  SendResult send(Channel channel, std::uint32_t peer, const std::vector<unsigned char>& bytes) {
    // In uneven pieces, the empty one included.
    const std::size_t cut = bytes.size() / 3;
    const Piece pieces[] = {{bytes.data(), cut},
                            {nullptr, 0},
                            {bytes.data() + cut, 1},
                            {bytes.data() + cut + 1, bytes.size() - cut - 1}};
    return conduit->send(channel, peer, pieces, std::size(pieces));
  }

  /// Waits for all ranks; what this one has sent goes on meanwhile, and nothing is delivered.
  void barrier_with_progress() {
    barrier([&] {
      EXPECT_EQ(conduit->poll(0, 0), 0u);
      std::this_thread::yield();
    });
  }

  /// One turn of a wait for a peer, which may need this core.
  void poll_or_yield(std::uint32_t channels, std::size_t max = everything) {
    if (conduit->poll(channels, max) == 0) std::this_thread::yield();
  }

  const Conduit* conduit = nullptr;
};

}  // namespace
}  // namespace gex::net::test
