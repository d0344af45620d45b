#pragma once
// A command line in one text, taken apart as a shell does it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gex::cmd {

/// The words of `text`, which blanks part. Quotes of both kinds and backslashes keep a blank, or
/// one another, in a word; nothing is expanded. Nothing when a quote or a backslash is left open.
inline std::optional<std::vector<std::string>> shell_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (++at == text.size()) return std::nullopt;
      // Between double quotes a backslash is one unless it protects something.
      if (quote == '"' && std::string_view("\"\\$`").find(text[at]) == std::string_view::npos) {
        words.back() += c;
      }
      words.back() += text[at];
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') return std::nullopt;
  return words;
}

}  // namespace gex::cmd
