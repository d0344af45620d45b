# network.cc alone can check its own state.
gex_conduit(ofi PLUGIN PREFERENCE 50 CHECKING network.cc NEEDS libfabric.so)
