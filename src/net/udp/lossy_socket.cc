#include "net/udp/lossy_socket.h"

#include <charconv>
#include <utility>

namespace gex::net::udp {

std::optional<SocketFaults> parse_faults(std::string_view text, std::string& error) {
  SocketFaults faults;
  while (!text.empty()) {
    const std::string_view setting = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), setting.size() + 1));
    const std::size_t equals = setting.find('=');
    const std::string_view name = setting.substr(0, equals);
    const std::string value(equals == std::string_view::npos ? "" : setting.substr(equals + 1));
    double* const probability = name == "loss"          ? &faults.loss
                                : name == "duplication" ? &faults.duplication
                                : name == "reordering"  ? &faults.reordering
                                : name == "corruption"  ? &faults.corruption
                                                        : nullptr;
    const char* const end = value.data() + value.size();
    std::from_chars_result read{value.data(), std::errc::invalid_argument};
    if (probability != nullptr)
      read = std::from_chars(value.data(), end, *probability);
    else if (name == "seed")
      read = std::from_chars(value.data(), end, faults.seed);
    if (read.ec != std::errc() || read.ptr != end ||
        (probability != nullptr && !(*probability >= 0 && *probability <= 0.5))) {
      error = "'" + std::string(setting) +
              "' is not loss, duplication, reordering or corruption with a number from 0 to 0.5, "
              "or a seed";
      return std::nullopt;
    }
  }
  return faults;
}

LossySocket::LossySocket(std::unique_ptr<Socket> below, const SocketFaults& faults,
                         std::uint32_t rank)
    : below_(std::move(below)),
      faults_(faults),
      limits_(below_->limits()),
      random_(faults.seed, rank) {
  // What the kernel cuts would be lost together.
  limits_.max_batch = 0;
  limits_.max_segments = 0;
}

void LossySocket::send_one(const Address& to, std::uint16_t route, std::vector<std::byte>& bytes) {
  if (happens(faults_.corruption))
    bytes[random_.below(bytes.size())] ^=
        std::byte{static_cast<unsigned char>(1U << random_.below(8))};
  const iovec piece{bytes.data(), bytes.size()};
  const Outgoing one{&to, &piece, 1, 0, route};
  below_->send(std::span(&one, 1));
}

std::size_t LossySocket::send(std::span<const Outgoing> all) {
  for (const Outgoing& one : all) {
    if (happens(faults_.loss)) continue;
    std::vector<std::byte> bytes;
    for (const iovec& piece : std::span(one.pieces, one.count)) {
      const auto* from = static_cast<const std::byte*>(piece.iov_base);
      bytes.insert(bytes.end(), from, from + piece.iov_len);
    }
    if (bytes.empty()) continue;
    if (!held_back_ && happens(faults_.reordering)) {
      held_back_ = Held{*one.to, one.route, std::move(bytes)};
      continue;
    }
    if (happens(faults_.duplication)) {
      std::vector<std::byte> again = bytes;
      send_one(*one.to, one.route, again);
    }
    send_one(*one.to, one.route, bytes);
    if (held_back_) {
      send_one(held_back_->to, held_back_->route, held_back_->bytes);
      held_back_.reset();
    }
  }
  return all.size();
}

}  // namespace gex::net::udp
