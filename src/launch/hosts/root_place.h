#pragma once
// The address of the root of a job whose ranks a foreign launcher has started, as rank 0 publishes
// it by that launcher.

#include <optional>
#include <string>
#include <string_view>

#include "launch/hosts/auth_handshake.h"
#include "launch/hosts/secret.h"

namespace gex::launch {

struct RootPlace {
  RootAddress address;
  Secret secret;
};

/// "PORT,SECRET,ADDRESS,...", with as many addresses as fit into a value of any launcher.
std::string text_of(const RootPlace& root);
/// Parses the result of `text_of`; empty if the text is invalid.
std::optional<RootPlace> root_of(std::string_view text);

}  // namespace gex::launch
