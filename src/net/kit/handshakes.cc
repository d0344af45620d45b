#include "net/kit/handshakes.h"

#include <chrono>
#include <thread>

#include "net/kit/fatal.h"

namespace gex::net {

namespace {

/// How long ranks take to connect before one warns that it waits.
constexpr std::chrono::seconds patience{10};

}  // namespace

void Handshakes::exchange(const Network& network) {
  std::vector<std::uint32_t> missing;  // those that send this rank a handshake
  for (std::uint64_t distance = 1; distance < host_.size;
       distance = network.with_all ? distance + 1 : distance * 2) {
    const auto behind = static_cast<std::uint32_t>((host_.rank + distance) % host_.size);
    const auto before =
        static_cast<std::uint32_t>((host_.rank + host_.size - distance) % host_.size);
    if (host_.shares_memory(behind) == 0 && !network.send(behind))
      fatal(host_, "%s: rank %u has no buffer for a handshake", network.name, host_.rank);
    if (host_.shares_memory(before) == 0) missing.push_back(before);
  }
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + patience;
  bool has_warned = false;
  for (;;) {
    const bool all_sent = network.advance();
    std::erase_if(missing, [this](std::uint32_t peer) { return have_come_[peer]; });
    if (missing.empty() && all_sent) return;
    if (!has_warned && Clock::now() > until) {
      std::optional<std::uint32_t> peer = network.refusing();
      if (!peer && !missing.empty()) peer = missing.front();
      has_warned = peer.has_value();
      if (peer)
        host_.warn((std::string(network.name) + ": still no connection with rank " +
                    std::to_string(*peer) + " after 10 s; if a firewall is in the way, " +
                    network.remedy)
                       .c_str());
    }
    std::this_thread::yield();
  }
}

}  // namespace gex::net
