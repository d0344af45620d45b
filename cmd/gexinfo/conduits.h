#pragma once
// The conduits there are on this machine, each tried out.

#include <string>
#include <vector>

#include "probe.h"

namespace gexinfo {

struct ConduitFacts {
  std::string name;
  std::string kind;  ///< "shared memory" (smp), "built in" or "plug-in"
  std::string file;  ///< of a plug-in
  bool chosen = false;
  Probe probe;
};

struct PlugInFolder {
  std::string path;
  std::string error;  ///< not empty: why it cannot be read
};

struct Conduits {
  std::vector<ConduitFacts> list;  ///< smp, the built-in ones, plug-ins by name
  std::vector<PlugInFolder> folders;
};

/// A program of ours finds the plug-ins that libgex finds, wherever the tree was moved.
void look_beside_libgex();

/// Finds and tries them; see `probe` for when that may be done.
Conduits find_conduits(int control);

/// Once this process has joined its job: what holds in that job replaces what was tried.
void mark_chosen(Conduits& conduits);

}  // namespace gexinfo
