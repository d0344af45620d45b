#pragma once
// Where the root of a job is whose ranks another launcher has started: what rank 0 tells the others
// through that launcher.

#include <optional>
#include <string>
#include <string_view>

#include "boot/greeting.h"
#include "boot/secret.h"

namespace gex::boot {

struct RootPlace {
  RootAddress address;
  Secret secret;
};

/// "PORT,SECRET,ADDRESS,...", as many addresses as any launcher takes in one value.
std::string text_of(const RootPlace& root);
/// None: the text is another.
std::optional<RootPlace> root_of(std::string_view text);

}  // namespace gex::boot
