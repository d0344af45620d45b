// libgex-fuzz.so: a network that changes one message on its way.
//
// It stands on another plug-in, FUZZ_UNDER. Of the library's own messages of the kind FUZZ_KIND
// that rank FUZZ_RANK sends, one is changed, which FUZZ_SEED chooses, together with what becomes of
// it; a line in the file FUZZ_LOG says so. What only its sender reads again, as the addresses at
// which it waits for an answer, stays as it is: a peer that changes those can do what it likes.

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "am/internal.h"
#include "am/wire.h"
#include "base/random.h"
#include "net/conduit.h"

namespace {

using gex::am::Internal;
using namespace gex::net;

/// What may be changed of the messages of one kind.
struct Kind {
  const char* name;
  Internal handler;
  std::vector<unsigned> args;
  bool payload;
};
std::vector<unsigned> below(unsigned count) {
  std::vector<unsigned> all(count);
  for (unsigned i = 0; i < count; ++i) all[i] = i;
  return all;
}
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"rma_put", Internal::rma_put, below(2), false},
      {"rma_get", Internal::rma_get, {0, 1, 6}, false},
      {"atomic", Internal::atomic_request, below(7), false},
      {"vis_put", Internal::vis_put, {2, 3}, true},
      {"vis_get", Internal::vis_get, {6, 7, 8}, true},
      {"exchange_gather", Internal::exchange_gather, below(6), false},
      {"exchange_spread", Internal::exchange_spread, below(6), false},
      {"barrier", Internal::barrier, below(4), false},
      {"named_barrier", Internal::named_barrier, below(4), false},
      {"coll_data", Internal::coll_data, below(8), false},
      {"coll_grant", Internal::coll_grant, below(7), false},
      {"coll_credit", Internal::coll_credit, below(5), false},
      {"coll_announce", Internal::coll_announce, below(14), false},
      {"coll_agreed", Internal::coll_agreed, below(4), false},
  };
  return all;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

const Conduit* under;
std::mutex lock;
const Kind* wanted;
std::uint64_t left_before_it;
gex::Random* chance;
bool done = true;

int attach(const Host* host, Limits* limits) {
  const auto found = std::find_if(kinds().begin(), kinds().end(), [](const Kind& kind) {
    return variable("FUZZ_KIND") == kind.name;
  });
  if (found != kinds().end() && variable("FUZZ_RANK") == std::to_string(host->rank)) {
    wanted = &*found;
    chance = new gex::Random(std::strtoull(variable("FUZZ_SEED").c_str(), nullptr, 10));
    left_before_it = (*chance)() % 8;
    done = false;
  }
  return under->attach(host, limits);
}

std::uint32_t some_value(std::uint32_t before) {
  switch ((*chance)() % 4) {
    case 0:
      return before ^ std::uint32_t{1} << (*chance)() % 32;
    case 1:
      return before + static_cast<std::uint32_t>((*chance)() % 9) - 4;
    case 2:
      return static_cast<std::uint32_t>((*chance)() % 64);
    default:
      return static_cast<std::uint32_t>((*chance)());
  }
}

void change(std::vector<char>& message) {
  const std::size_t at_args = sizeof(gex::am::WirePrefix);
  gex::am::WirePrefix prefix;
  std::memcpy(&prefix, message.data(), sizeof prefix);
  const unsigned count = prefix.header.arg_count();
  const std::size_t at_payload = at_args + gex::am::wire_args(count);
  if (wanted->payload && message.size() > at_payload && (*chance)() % 2 == 0) {
    const std::size_t words = (message.size() - at_payload) / sizeof(std::uint32_t);
    // The description stands in front.
    const std::size_t at = at_payload + (*chance)() % std::min<std::size_t>(words, 12) * 4;
    std::uint32_t word;
    std::memcpy(&word, &message[at], sizeof word);
    word = some_value(word);
    std::memcpy(&message[at], &word, sizeof word);
  } else {
    const unsigned arg = wanted->args[(*chance)() % wanted->args.size()];
    std::uint32_t word;
    std::memcpy(&word, &message[at_args + arg * sizeof word], sizeof word);
    word = some_value(word);
    std::memcpy(&message[at_args + arg * sizeof word], &word, sizeof word);
  }
  const int log = open(variable("FUZZ_LOG").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  const std::string line = std::string("changed ") + wanted->name + "\n";
  if (log < 0 || write(log, line.data(), line.size()) < 0) std::abort();
  close(log);
}

SendResult send(Channel channel, std::uint32_t peer, const Piece* pieces, std::size_t count) {
  if (done) return under->send(channel, peer, pieces, count);
  const std::lock_guard guard(lock);
  std::vector<char> message;
  for (std::size_t i = 0; i < count; ++i) {
    const char* const begin = static_cast<const char*>(pieces[i].data);
    message.insert(message.end(), begin, begin + pieces[i].size);
  }
  gex::am::WirePrefix prefix;
  std::memcpy(&prefix, message.data(), sizeof prefix);
  const bool is_it = !done && prefix.header.handler() == static_cast<std::uint8_t>(wanted->handler);
  if (!is_it || left_before_it != 0) {
    const SendResult result = under->send(channel, peer, pieces, count);
    if (is_it && result == sent) --left_before_it;
    return result;
  }
  change(message);
  const Piece whole{message.data(), message.size()};
  // What finds no room is not tried again as it was: there is one change.
  done = true;
  return under->send(channel, peer, &whole, 1);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v1(void) {
  static const Conduit table = [] {
    void* const library = dlopen(variable("FUZZ_UNDER").c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const entry = library != nullptr ? dlsym(library, entry_symbol) : nullptr;
    if (entry == nullptr) {
      std::fprintf(stderr, "fuzz: %s\n", dlerror());
      std::abort();
    }
    under = reinterpret_cast<Entry>(entry)();
    Conduit changed = *under;
    changed.name = "fuzz";
    changed.attach = attach;
    changed.send = send;
    return changed;
  }();
  return &table;
}
