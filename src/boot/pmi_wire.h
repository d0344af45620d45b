#pragma once
// The descriptor over which a process of another launcher speaks PMI with its process manager, and
// what both versions of PMI have in common: the place in the environment and the first line.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gex::boot {

/// Where the environment says that this process stands.
struct PmiPlace {
  int wire;
  std::uint32_t rank;
  std::uint32_t size;
};
/// Empty: PMI_FD, PMI_RANK and PMI_SIZE are not such a place.
std::optional<PmiPlace> pmi_place();

class PmiWire {
 public:
  explicit PmiWire(int descriptor);

  /// Has `tell` called, once, when an answer does not come for that long.
  void on_long_wait(int milliseconds, std::function<void()> tell) {
    long_wait_ms_ = milliseconds;
    on_long_wait_ = std::move(tell);
  }

  /// Each is false or empty when the connection is broken or too much is said: `error` says it.
  bool say(std::string_view bytes);
  std::optional<std::string> hear_line();
  std::optional<std::string> hear(std::size_t bytes);

  /// Whether the descriptor is still the one that it was: an MPI library in this program may have
  /// closed it.
  bool is_open() const noexcept;

  /// The last words: nothing is asked of the answer but that it is `whole`, since a launcher may
  /// write it in parts and mind a connection that ends between them. Nobody is told when there is
  /// none. Async-signal-safe.
  void say_farewell(std::string_view bytes, bool (*whole)(std::string_view) noexcept) noexcept;

  const std::string& error() const noexcept { return error_; }

 private:
  /// One byte; none beyond what is asked for is ours, since an MPI library reads what follows.
  bool hear_byte(char& byte);

  int descriptor_;
  ino_t inode_ = 0;
  std::string error_;
  int long_wait_ms_ = 0;
  std::function<void()> on_long_wait_;
};

/// What a rank leaves under a key, in a table that all share.
std::string pmi_key(std::uint32_t rank, const std::string& key);

/// The word behind `key=` in a list of such words, each ended by `separator` or the end of the
/// line.
std::string pmi_value(std::string_view text, std::string_view key, char separator);

}  // namespace gex::boot
