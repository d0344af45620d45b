// libgex-fuzz.so: a network that changes one message on its way.
//
// It stands on another plug-in, FUZZ_UNDER. Of the library's own messages of the kind FUZZ_KIND,
// whose handler is FUZZ_HANDLER, that rank FUZZ_RANK sends, and in which argument A has the value V
// if FUZZ_ONLY is "A = V", as many as FUZZ_SKIP pass; the next one is changed as FUZZ_CHANGE
// describes, once:
//
//   argument A = V      the argument's value; with ^ instead of = its bits, with + what is added
//   description W = V   likewise, for a word of a non-contiguous transfer's description
//   arguments N         it has no more than so many
//
// Messages that have no such word pass as well. The file FUZZ_LOG then holds a line with what the
// word was and has become.

#include <gex/plugin/conduit.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iomanip>
#include <iterator>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "am/wire.h"

namespace {

using namespace gex::net;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "fuzz: %s\n", why.c_str());
  std::abort();
}

/// "argument 3 ^ 0x10", and of "arguments 3" the number alone.
struct Change {
  std::string what;
  unsigned index = 0;
  char operation = '=';
  std::uint32_t value = 0;

  explicit Change(const std::string& text) {
    std::istringstream words(text);
    words >> what >> index >> operation >> std::setbase(0) >> value;
    if (what.empty() || (!words && what != "arguments")) give_up("no change: '" + text + "'");
  }
  std::uint32_t of(std::uint32_t before) const {
    return operation == '^' ? before ^ value : operation == '+' ? before + value : value;
  }
};

const Conduit* under;
std::mutex lock;
std::uint8_t wanted;
std::uint64_t left_before_it;
/// True if nothing is changed any more. Relaxed: a word that stands alone.
std::atomic<bool> done{true};

int attach(const Host* host, Limits* limits) {
  wanted = static_cast<std::uint8_t>(std::atoi(variable("FUZZ_HANDLER").c_str()));
  if (wanted == 0) give_up("FUZZ_HANDLER is missing");
  left_before_it = std::strtoull(variable("FUZZ_SKIP").c_str(), nullptr, 10);
  done = variable("FUZZ_RANK") != std::to_string(host->rank);
  return under->attach(host, limits);
}

/// A message of the library's own, as it lies on the wire.
class Message {
 public:
  Message(const Piece* pieces, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const char* const begin = static_cast<const char*>(pieces[i].data);
      bytes_.insert(bytes_.end(), begin, begin + pieces[i].size);
    }
    std::memcpy(&prefix_, bytes_.data(), sizeof prefix_);
  }

  bool is_wanted_kind() const { return prefix_.header.handler() == wanted; }
  /// Where the argument lies, if it has so many.
  std::optional<std::size_t> argument(unsigned index) const {
    if (index >= arg_count()) return std::nullopt;
    return sizeof prefix_ + index * sizeof(std::uint32_t);
  }
  /// Where the word of the description lies. A notice that goes with a put stands in front of it.
  std::optional<std::size_t> description(unsigned index) const {
    std::size_t at = sizeof prefix_ + gex::am::wire_args(arg_count());
    if (variable("FUZZ_KIND") == "vis_put_with_notice")
      at += ((word(*argument(8)) >> 8) + 15) / 16 * std::size_t{16};
    at += index * sizeof(std::uint32_t);
    if (at + sizeof(std::uint32_t) > bytes_.size()) return std::nullopt;
    return at;
  }
  std::uint32_t word(std::size_t at) const {
    std::uint32_t value;
    std::memcpy(&value, &bytes_[at], sizeof value);
    return value;
  }
  void set_word(std::size_t at, std::uint32_t value) {
    std::memcpy(&bytes_[at], &value, sizeof value);
  }
  unsigned arg_count() const { return prefix_.header.arg_count(); }
  void leave_arguments(unsigned count) {
    const auto first = bytes_.begin() + sizeof prefix_;
    bytes_.erase(first + static_cast<std::ptrdiff_t>(gex::am::wire_args(count)),
                 first + static_cast<std::ptrdiff_t>(gex::am::wire_args(arg_count())));
    prefix_.header.what.word += (count - arg_count()) << 11;
    std::memcpy(bytes_.data(), &prefix_, sizeof prefix_);
  }
  Piece whole() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<char> bytes_;
  gex::am::WirePrefix prefix_;
};

bool is_wanted(const Message& message) {
  if (!message.is_wanted_kind()) return false;
  unsigned index = 0;
  std::uint32_t value = 0;
  if (std::sscanf(variable("FUZZ_ONLY").c_str(), "%u = %u", &index, &value) != 2) return true;
  const auto at = message.argument(index);
  return at && message.word(*at) == value;
}

/// Returns a description of the change; nothing if the message cannot be changed so.
std::string change(Message& message) {
  const Change change(variable("FUZZ_CHANGE"));
  char line[200];
  if (change.what == "arguments") {
    if (message.arg_count() <= change.index) return "";
    std::snprintf(line, sizeof line, "arguments: %u -> %u", message.arg_count(), change.index);
    message.leave_arguments(change.index);
    return line;
  }
  const auto at = change.what == "argument" ? message.argument(change.index)
                                            : message.description(change.index);
  if (!at) return "";
  const std::uint32_t before = message.word(*at);
  message.set_word(*at, change.of(before));
  std::snprintf(line, sizeof line, "%s %u: 0x%x -> 0x%x", change.what.c_str(), change.index, before,
                change.of(before));
  return line;
}

void write_log(const std::string& text) {
  const int log = open(variable("FUZZ_LOG").c_str(), O_WRONLY | O_TRUNC | O_CREAT, 0600);
  if (log < 0 || write(log, text.data(), text.size()) < 0) give_up("the log cannot be written");
  close(log);
}

SendResult send(Channel channel, std::uint32_t peer, const Piece* pieces, std::size_t count) {
  if (done.load(std::memory_order_relaxed)) return under->send(channel, peer, pieces, count);
  const std::lock_guard guard(lock);
  Message message(pieces, count);
  if (done || !is_wanted(message)) return under->send(channel, peer, pieces, count);
  if (left_before_it != 0) {
    const SendResult result = under->send(channel, peer, pieces, count);
    if (result == sent) --left_before_it;
    return result;
  }
  const std::string changed = change(message);
  if (changed.empty()) return under->send(channel, peer, pieces, count);
  // Before it is sent: the job may end at once.
  write_log(variable("FUZZ_KIND") + " to rank " + std::to_string(peer) + ", " + changed + '\n');
  const Piece whole = message.whole();
  const SendResult result = under->send(channel, peer, &whole, 1);
  // What finds no room is not sent, and may not be tried again: another may be changed as well.
  if (result == sent)
    done = true;
  else
    write_log("");
  return result;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v4(void) {
  static const Conduit table = [] {
    void* const library = dlopen(variable("FUZZ_UNDER").c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const entry = library != nullptr ? dlsym(library, entry_symbol) : nullptr;
    if (entry == nullptr) give_up(dlerror());
    under = reinterpret_cast<Entry>(entry)();
    Conduit changed = *under;
    changed.name = "fuzz";
    changed.attach = attach;
    changed.send = send;
    return changed;
  }();
  return &table;
}
