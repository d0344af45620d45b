#include "job/launcher_nodes.h"

#include <charconv>
#include <unordered_map>

namespace gex::job {

namespace {

/// Takes the text up to the separator off the front of `text`; all of it if there is none.
std::string_view take_word(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view word = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return word;
}

}  // namespace

NodeHosts group_by_host(std::span<const std::string> identities) {
  NodeHosts hosts;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (const std::string& identity : identities) {
    const auto next = static_cast<std::uint32_t>(hosts.identities.size());
    const auto [found, is_new] = numbers.try_emplace(identity, next);
    if (is_new) hosts.identities.push_back(identity);
    hosts.host_of.push_back(found->second);
  }
  return hosts;
}

std::string text_of(const NodeHosts& hosts) {
  std::string text;
  for (const std::string& identity : hosts.identities) {
    if (!text.empty()) text += ',';
    text += identity;
  }
  if (hosts.identities.size() == 1) return text;
  char separator = ':';
  for (const std::uint32_t host : hosts.host_of) {
    text += separator + std::to_string(host);
    separator = '.';
  }
  return text;
}

std::optional<NodeHosts> node_hosts(std::string_view text, std::uint32_t ranks) {
  NodeHosts hosts;
  std::string_view identities = take_word(text, ':');
  while (!identities.empty()) hosts.identities.emplace_back(take_word(identities, ','));
  if (hosts.identities.size() == 1 && text.empty()) {
    hosts.host_of.assign(ranks, 0);
    return hosts;
  }
  while (!text.empty()) {
    const std::string_view word = take_word(text, '.');
    const char* const end = word.data() + word.size();
    std::uint32_t host = 0;
    const auto [rest, error] = std::from_chars(word.data(), end, host);
    if (error != std::errc() || rest != end || host >= hosts.identities.size()) return std::nullopt;
    hosts.host_of.push_back(host);
  }
  if (hosts.host_of.size() != ranks) return std::nullopt;
  return hosts;
}

LauncherNodes::LauncherNodes(std::span<const std::uint32_t> node_of, std::uint32_t ranks) {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto [found, is_new] =
        numbers.try_emplace(node_of.empty() ? 0 : node_of[rank], this->size());
    if (is_new) nodes_.emplace_back();
    nodes_[found->second].add(rank);
    number_of_.push_back(found->second);
  }
}

HostParts LauncherNodes::hosts(std::span<const NodeHosts> groups) const {
  HostParts hosts;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  std::vector<std::uint32_t> next(this->size(), 0);  // by node: the index of its next rank
  for (const std::uint32_t node : number_of_) {
    const NodeHosts& group = groups[node];
    const std::string_view identity = group.identities[group.host_of[next[node]++]];
    const auto [found, is_new] = numbers.try_emplace(identity, hosts.size());
    if (is_new) hosts.add(std::string(identity.substr(0, identity.find('/'))));
    hosts.place_next(found->second);
  }
  return hosts;
}

}  // namespace gex::job
