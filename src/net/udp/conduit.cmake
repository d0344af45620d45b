gex_conduit(udp BUILT_IN PREFERENCE 5)
