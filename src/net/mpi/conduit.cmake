# libgex-mpi.so chooses the MPI, and links none; what is linked with one is beside it
# (libgex-mpi-openmpi.so, libgex-mpi-mpich.so, libgex-mpi-abi.so).
gex_conduit(mpi PLUGIN NEEDS libmpi.so libmpich.so libmpi_abi.so PARTS openmpi mpich abi)
