gex_conduit(udp BUILT_IN)
