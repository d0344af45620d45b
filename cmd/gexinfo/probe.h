#pragma once
// Trying a conduit out: starting a job of one rank on it, in a process of its own.
//
// The process does what any program does that is started with GEX_CONDUIT set so, hence finds what
// such a program would find. A plug-in that cannot be opened, refuses this machine, crashes or
// hangs ends that process and nothing else, and the answer has the reason.

#include <cstdint>
#include <string>
#include <vector>

#include "net/operations.h"

namespace gexinfo {

/// The largest active messages over a conduit.
struct MessageLimits {
  std::uint64_t medium;        ///< bytes of payload
  std::uint64_t long_request;  ///< bytes of payload
  std::uint64_t long_reply;    ///< bytes of payload
  std::uint64_t packet;        ///< bytes of one message of the conduit
  std::uint64_t outstanding;   ///< requests to one peer that have no reply yet
};

/// Something that a network would choose here.
struct Choice {
  std::string name;
  std::string text;
};

struct Probe {
  std::string refusal;  ///< not empty: why the conduit cannot be used here
  std::string name;
  std::string description;
  std::vector<gex::net::Means> means;  ///< one for each of gex::net::operations()
  MessageLimits limits{};
  std::vector<Choice> choices;  ///< by the conduit itself
  std::uint32_t standing = 0;   ///< gex::net::Standing in a job on several hosts
  std::string standing_note;    ///< what it would use there, or why it cannot be used
};

/// Tries `conduit`, a value of GEX_CONDUIT. Before this process has joined a job and while it has
/// one thread. `control`: this process's connection to its guardian, -1 if there is none.
Probe probe(const std::string& conduit, int control);

/// The answer of this process's own conduit, once it has joined its job.
Probe probe_own();

}  // namespace gexinfo
