#pragma once
// emu: a network made of shared memory, between the processes of one machine.
//
// It carries what any other network would carry, without needing one: the conformance suite runs
// over it with GASNET_SUPERNODE_MAXSIZE=1, and with GEX_EMU_SEED it delivers messages in an order
// that makes ordering bugs appear, and appear again under the same seed. With GEX_EMU it takes the
// time that another network would (model.h).

#include <gex/plugin/conduit.h>
namespace gex::net::emu {

/// The conduit's table. `attach` takes GEX_EMU, GEX_EMU_QUEUE and GEX_EMU_SEED of rank 0 for all
/// ranks. One network per process at a time (network.h has the object of which there can be
/// several).
const Conduit& conduit() noexcept;

}  // namespace gex::net::emu
