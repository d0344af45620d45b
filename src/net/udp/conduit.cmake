# lanes.cc alone can check its own state.
gex_conduit(udp BUILT_IN PREFERENCE 5 CHECKING lanes.cc)
