# network.cc alone can check its own state.
gex_conduit(ofi PLUGIN CHECKING network.cc NEEDS libfabric.so)
