#include "net/udp/lossy_socket.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
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
  if (only_loses()) return;
  // What is changed, repeated or held back is sent by itself.
  limits_.max_batch = 0;
  limits_.max_segments = 0;
}

bool LossySocket::only_loses() const noexcept {
  return faults_.duplication == 0 && faults_.reordering == 0 && faults_.corruption == 0;
}

bool LossySocket::send_rest(const Outgoing& batch) {
  // Runs of what is not lost, each a batch again.
  pieces_.clear();
  runs_.clear();
  std::size_t at = 0;  // in the batch
  std::size_t segment_ends = 0;
  bool is_lost = true;
  for (const iovec& piece : std::span(batch.pieces, batch.count)) {
    for (std::size_t used = 0; used < piece.iov_len;) {
      if (at == segment_ends) {
        segment_ends = batch.segment != 0 ? at + batch.segment : SIZE_MAX;
        const bool was_lost = std::exchange(is_lost, happens(faults_.loss));
        if (was_lost && !is_lost) runs_.push_back({pieces_.size(), 0});
      }
      const std::size_t size = std::min(piece.iov_len - used, segment_ends - at);
      if (!is_lost) {
        pieces_.push_back({static_cast<std::byte*>(piece.iov_base) + used, size});
        runs_.back().bytes += size;
      }
      used += size;
      at += size;
    }
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::size_t end = i + 1 < runs_.size() ? runs_[i + 1].first_piece : pieces_.size();
    const bool is_batch = batch.segment != 0 && runs_[i].bytes > batch.segment;
    const Outgoing run{batch.to, &pieces_[runs_[i].first_piece],
                       static_cast<std::uint32_t>(end - runs_[i].first_piece),
                       is_batch ? batch.segment : std::uint16_t{0}, batch.route};
    // If a part of a batch has left, the rest counts as lost.
    if (below_->send(std::span(&run, 1)) == 0) return i != 0;
  }
  return true;
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
  if (only_loses()) {
    std::size_t taken = 0;
    while (taken < all.size() && send_rest(all[taken])) ++taken;
    return taken;
  }
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
