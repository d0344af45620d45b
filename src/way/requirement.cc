#include "way/requirement.h"

#include <algorithm>

#include "core/memory_class.h"

namespace gex {

namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view ends_of_words = " ,;:/+";

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The part before `end`, which is removed from `text` with it.
std::string_view take(std::string_view& text, std::size_t end) {
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return part;
}

/// Returns true if `words` stand in `text` with nothing, or the end of a word, on either side.
bool has_words(std::string_view text, std::string_view words) {
  const auto ends_at = [text](std::size_t place) {
    return place >= text.size() || ends_of_words.find(text[place]) != ends_of_words.npos;
  };
  for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1))
    if ((at == 0 || ends_at(at - 1)) && ends_at(at + words.size())) return true;
  return false;
}

bool is_shared_memory(std::string_view name) {
  return name == "shm" || name == "smp";
}

bool is_kind_of_memory(std::string_view name) {
  return std::ranges::any_of(memory_classes(),
                             [&](const MemoryClassInfo* one) { return one->entry == name; });
}

}  // namespace

Requirement::Requirement(std::string_view text) {
  while (!text.empty()) {
    std::string_view entry = without_blanks(take(text, text.find(',')));
    if (entry.empty()) continue;
    const std::string_view network = without_blanks(take(entry, entry.find(':')));
    entries_.push_back({std::string(network), std::string(without_blanks(entry))});
  }
}

bool Requirement::is_about_pairs() const noexcept {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return !is_kind_of_memory(entry.network); });
}

bool Requirement::names(std::string_view network) const noexcept {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.network == network; });
}

bool Requirement::accepts_shared_memory() const noexcept {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return is_shared_memory(entry.network); });
}

bool Requirement::accepts(std::string_view network, std::string_view way) const noexcept {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.network == network && (entry.way.empty() || has_words(way, entry.way));
  });
}

std::string Requirement::first_unknown(const std::vector<std::string>& networks) const {
  for (const Entry& entry : entries_) {
    if (is_shared_memory(entry.network) || is_kind_of_memory(entry.network)) continue;
    if (std::find(networks.begin(), networks.end(), entry.network) == networks.end())
      return entry.network;
  }
  return {};
}

}  // namespace gex
