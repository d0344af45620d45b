#pragma once
// Command lines of the programs that answer for themselves: options by getopt_long, a wrong one
// reported in one line with status 2, --help and --version on standard output.

#include <getopt.h>
#include <gex/version.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "output.h"

namespace gex::cmd {

/// The number that a text is; nothing if it is anything else.
inline std::optional<std::uint32_t> whole_number(std::string_view text) noexcept {
  std::uint32_t number = 0;
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc() || rest != text.end()) return std::nullopt;
  return number;
}

/// The result of reading a command line: options, or a text to print and a status to exit with.
template <class Options>
struct Reading {
  Options options{};
  std::string message;  ///< not empty: print this, on standard error when the status is not 0
  int status = 0;

  /// Prints the message where it belongs; the status to exit with.
  int print(const char* program) const noexcept {
    if (status == 0) return print_output(program, message);
    std::fputs(message.c_str(), stderr);
    return status;
  }
};

/// Reads options one after the other; never prints and never exits. One at a time in a process.
class OptionReader {
 public:
  /// The prefix of a name of several letters: two dashes, or also one.
  enum class Dashes { two, one };
  /// The place of options: before the other words, which may be a program with its own, or
  /// anywhere.
  enum class Place { first, anywhere };

  /// `program` names it in messages; `letters` and `names` as getopt_long wants them.
  OptionReader(std::string program, int count, char** arguments, const std::string& letters,
               const option* names, Dashes dashes = Dashes::two, Place place = Place::first)
      : program_(std::move(program)),
        count_(count),
        arguments_(arguments),
        letters_((place == Place::first ? "+:" : ":") + letters),
        names_(names),
        read_(dashes == Dashes::two ? getopt_long : getopt_long_only) {
    opterr = 0;
    optind = 1;
  }

  /// The next option, -1 after the last. One that does not exist is for `refuse_option`.
  int next() const { return read_(count_, arguments_, letters_.c_str(), names_, nullptr); }

  /// The value of the option that `next` gave.
  static std::string value() { return optarg != nullptr ? optarg : ""; }
  /// The word that was read last.
  const char* word() const noexcept { return arguments_[optind - 1]; }
  /// Takes the next word as it is; null when there is none.
  const char* take_word() const noexcept {
    return optind < count_ ? arguments_[optind++] : nullptr;
  }
  /// The words behind the options.
  std::span<char* const> rest() const noexcept {
    return {arguments_ + optind, arguments_ + count_};
  }

  template <class Options>
  Reading<Options> refuse(const std::string& what) const {
    return {{}, program_ + ": " + printable(what) + " (" + program_ + " --help)\n", usage_error};
  }
  template <class Options>
  Reading<Options> refuse_option(int found) const {
    return found == ':' ? refuse<Options>("option " + rejected() + " needs a value")
                        : refuse<Options>("unknown option " + rejected());
  }
  template <class Options>
  Reading<Options> version() const {
    return {{}, program_ + " (libgex) " GEX_LIBRARY_VERSION "\n", 0};
  }

 private:
  static constexpr int usage_error = 2;

  /// The word at which getopt stopped, as the user wrote it.
  std::string rejected() const {
    if (std::strncmp(word(), "--", 2) == 0) return word();
    return optopt > 0 && optopt < 256 ? std::string("-") + static_cast<char>(optopt) : word();
  }

  std::string program_;
  int count_;
  char** arguments_;
  std::string letters_;
  const option* names_;
  decltype(&getopt_long) read_;
};

}  // namespace gex::cmd
