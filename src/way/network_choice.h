#pragma once
// A job's network: named by its user or by the client's label, or found by the rule of
// net/choice.h.

#include <string>

#include "core/conduit_host.h"

namespace gex {

/// Takes the network that GEX_CONDUIT names, or `label`, what the client was compiled for. What is
/// named is used or ends the job in one line. Where neither names one, `attach_network` chooses.
void name_network(const std::string& label);

/// Once the neighborhood is formed. Collective: attaches the network, which gives arrived messages
/// to `deliver`. Without a name: none if all ranks share memory, else the best that does not refuse
/// to be used here. Ends the job in one line if processes outside the neighborhood are not reached.
void attach_network(Deliver deliver);

}  // namespace gex
