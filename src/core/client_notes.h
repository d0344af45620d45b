#pragma once
// The records that client translation units leave (gex/abi.h), read from the loaded objects.

#include <cstdint>
#include <string>

namespace gex {

struct ClientNotes {
  std::uint32_t count = 0;
  std::uint32_t mode = 0;  ///< GEX_MODE_..._, 0 if there is no client record
  std::string conduit;     ///< lower-case label of the first record that has one; empty: none has
  std::string smp_object;  ///< the first object with the label smp; empty: none has it
};

/// Reads all records; ends the process in one line if one has another ABI number, or if two have
/// different threading modes.
ClientNotes read_client_notes();

}  // namespace gex
