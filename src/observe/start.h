#pragma once
// From when on a rank is observed: checks, traces, and what hang reports show of it.

namespace gex::observe {

/// Start-up, once the job is joined and the threading mode is known, before there are other
/// threads: decides from the environment for what calls are observed (core/observed.h), and records
/// from here on, beginning with gex_Client_Init, which the caller is in.
void start();

/// The trace names the network by that; once it has been chosen.
void name_network(const char* name) noexcept;

}  // namespace gex::observe
