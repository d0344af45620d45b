gex_conduit(emu BUILT_IN ONE_MACHINE)
