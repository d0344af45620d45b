#!/bin/sh
# Runs a command as a rank of another launcher's job on a host that is named for it: two ranks on
# each of h0, h1, ... The hosts have names of their own and nothing else.
#   named_hosts.sh COMMAND...
rank=${SLURM_PROCID:-${PMI_RANK:-$OMPI_COMM_WORLD_RANK}}
exec unshare --uts sh -c 'hostname "$0" && exec "$@"' "h$((rank / 2))" "$@"
