#pragma once
// Finding the conduit a job asked for: built in, or a plug-in opened at start.

#include <gex/plugin/conduit.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gex::net {

/// Conduits that are part of the library itself (today: emu).
std::span<const Conduit* const> built_in() noexcept;

/// A network that this libgex was made with (`gex_conduit`, cmake/GexConduits.cmake).
struct Declared {
  const char* name;
  bool built_in;             ///< else a plug-in, which need not be there
  bool one_machine;          ///< it joins the processes of one machine
  std::uint32_t preference;  ///< among equally good ones; 0: only its name chooses it
};
std::span<const Declared> declared() noexcept;

/// The conduit of that name. Built-in ones first, then `libgex-NAME.so` in the folders of
/// GEX_CONDUIT_PATH, beside the file that holds this code (libgex.so, or the program that is linked
/// with libgex.a), in `gex/` below that, beside the libgex of the gexrun that started the program,
/// and where the libgex.a in the program was installed. A name with a slash is a plug-in's file.
/// Ends the job in one line that lists what exists and where it looked when there is none, or when
/// the plug-in is of another interface version. "smp" is no conduit but the job without a network:
/// null. A plug-in once found stays loaded.
const Conduit* find(std::string_view name);

/// Looks for the conduit of that name, other than smp, as `find` does, and returns the reason where
/// that ends the job.
struct Found {
  const Conduit* conduit = nullptr;
  std::string reason;    ///< one line: why there is none
  bool missing = false;  ///< there is no such plug-in, rather than one that cannot be used
};
Found look_for(std::string_view name);

/// A folder that is looked through for plug-ins.
struct Folder {
  std::string path;
  std::string error;  ///< not empty: why it cannot be read
};

/// A plug-in's file, found by its name and not opened.
struct PlugIn {
  std::string name;
  std::string file;
  std::string hidden_by;  ///< not empty: what `find` takes for that name instead
};

/// Where `find` looks and which plug-ins lie there, for gexinfo; plug-ins by name, those of one
/// name in the order of the folders.
struct Survey {
  std::vector<Folder> folders;
  std::vector<PlugIn> plug_ins;
};
Survey survey();

/// Start-up only. For a program of ours that holds the library's rooms and is not linked with
/// libgex: looks for plug-ins beside the libgex in `folder` instead of beside the program.
void set_library_folder(std::string folder);

/// One line: the names that `find` would find on this machine, "smp, emu, ofi".
/// Plug-ins are found by their file names, not opened.
std::string available();

}  // namespace gex::net
