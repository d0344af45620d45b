# emu.cc alone can check its own state.
gex_conduit(emu BUILT_IN ONE_MACHINE CHECKING emu.cc)
