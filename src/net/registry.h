#pragma once
// Finding the conduit a job asked for: built in, or a plug-in opened at start.

#include <span>
#include <string>
#include <string_view>

#include "net/conduit.h"

namespace gex::net {

/// Conduits that are part of the library itself (today: emu).
std::span<const Conduit* const> built_in() noexcept;

/// The conduit of that name. Built-in ones first, then `libgex-NAME.so` in the folders of
/// GEX_CONDUIT_PATH, beside libgex, and in `gex/` below it. A name with a slash is a plug-in's
/// file. Ends the job in one line that lists what exists when there is none, or when the plug-in
/// is of another interface version. "smp" is no conduit but the job without a network: null. A
/// plug-in once found stays loaded.
const Conduit* find(std::string_view name);

/// One line for gexinfo: the names that `find` would find on this machine, "smp, emu, ofi".
/// Plug-ins are found by their file names, not opened.
std::string available();

}  // namespace gex::net
