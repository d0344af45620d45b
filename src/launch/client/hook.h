#pragma once
// The launcher as a part of clients: jobs that no gexrun has started (job/launch_hook.h). It has no
// launch agents and no mapping of ranks to hosts, which gexrun alone needs.
//
// It is in libgex itself, not in a program of its own, for two reasons. With GASNET_PSHM_NODES the
// ranks are forks of a process that is inside gex_Client_Init, and the guardian is their parent.
// And a program that is linked statically runs on machines where nothing of libgex is installed.

namespace gex::launch {

/// Registers the launcher with `set_launch_hook`.
void register_launch_hook() noexcept;

}  // namespace gex::launch
