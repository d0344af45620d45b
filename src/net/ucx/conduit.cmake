# network.cc alone can check its own state.
gex_conduit(ucx PLUGIN PREFERENCE 40 CHECKING network.cc NEEDS libucp.so libuct.so libucs.so libucm.so)
