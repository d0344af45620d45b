#pragma once
// The connection of a process to a foreign launcher's process manager by PMI, and the parts that
// both versions of PMI share: the variables of the environment and the first line.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gex::job {

/// The content of PMI_FD, PMI_RANK and PMI_SIZE.
struct PmiPlace {
  int wire;
  std::uint32_t rank;
  std::uint32_t size;
};
/// Reads the variables; empty if they are missing or invalid.
std::optional<PmiPlace> pmi_place();

class PmiWire {
 public:
  explicit PmiWire(int descriptor);

  /// Sets a function that is called once when a response takes that long.
  void on_long_wait(int milliseconds, std::function<void()> report) {
    long_wait_ms_ = milliseconds;
    on_long_wait_ = std::move(report);
  }

  /// These return false or empty if the connection is broken or a message too long; `error` is the
  /// reason. Nothing more is sent then.
  bool send(std::string_view bytes);
  std::optional<std::string> receive_line();
  std::optional<std::string> receive(std::size_t bytes);

  /// Returns true if the descriptor is still the same socket: an MPI library in this program may
  /// have closed it.
  bool is_open() const noexcept;

  /// Sends the last message and waits for a response that is `whole`, whatever its content: a
  /// launcher may write it in parts, and fail if the connection is closed between them. Errors are
  /// ignored. Async-signal-safe.
  void finalize(std::string_view bytes, bool (*whole)(std::string_view) noexcept) noexcept;

  const std::string& error() const noexcept { return error_; }
  /// Ends the use of the connection: the bytes that came are no message, and hide where the next
  /// one begins.
  void fail(std::string error) { error_ = std::move(error); }

 private:
  /// Receives one byte and no more, since an MPI library may read the following ones.
  bool receive_byte(char& byte);

  int descriptor_;
  ino_t inode_ = 0;
  std::string error_;
  int long_wait_ms_ = 0;
  std::function<void()> on_long_wait_;
};

/// The key of a rank's value in the table that all ranks share.
std::string pmi_key(std::uint32_t rank, const std::string& key);

/// The key, in the table, of the launcher's account of nodes.
inline constexpr char pmi_mapping_key[] = "PMI_process_mapping";

/// The number of each rank's node, by that account: "(vector,(FIRST NODE,NODES,RANKS OF
/// EACH),...)", over and over until all ranks have one. Empty if the text is no such account.
std::vector<std::uint32_t> nodes_of_mapping(std::string_view mapping, std::uint32_t ranks);

/// The value of `key=VALUE` in a list of such words, each ended by `separator` or the end of the
/// line.
std::string pmi_value(std::string_view text, std::string_view key, char separator);

}  // namespace gex::job
