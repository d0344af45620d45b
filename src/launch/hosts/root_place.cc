#include "launch/hosts/root_place.h"

#include <charconv>
#include <vector>

#include "base/hex.h"

namespace gex::launch {

namespace {

/// Maximum length of the text; PMI-1 limits a whole message to 1024 bytes.
constexpr std::size_t max_text = 900;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    words.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
  }
  return words;
}

}  // namespace

std::string text_of(const RootPlace& root) {
  std::string text = std::to_string(root.address.port) + "," + hex(root.secret.bytes());
  for (const std::string& host : root.address.hosts) {
    if (text.size() + host.size() < max_text) text += "," + host;
  }
  return text;
}

std::optional<RootPlace> root_of(std::string_view text) {
  std::vector<std::string> words = words_of(text);
  if (words.size() < 3) return std::nullopt;
  RootAddress address;
  const char* const end = words[0].data() + words[0].size();
  const auto port = std::from_chars(words[0].data(), end, address.port);
  Secret::Bytes secret;
  if (port.ec != std::errc() || port.ptr != end || address.port == 0 || !from_hex(words[1], secret))
    return std::nullopt;
  address.hosts.assign(words.begin() + 2, words.end());
  return RootPlace{std::move(address), Secret(secret)};
}

}  // namespace gex::launch
