#!/bin/sh
# Runs a command as a rank of another launcher's job on a host that is named for it: two ranks on
# each of h0, h1, ..., or all ranks on h0 and h1 in turn. The hosts have names of their own and
# nothing else.
#   named_hosts.sh block|cyclic COMMAND...
rank=${SLURM_PROCID:-${PMI_RANK:-$OMPI_COMM_WORLD_RANK}}
case $1 in
  block) host=h$((rank / 2)) ;;
  cyclic) host=h$((rank % 2)) ;;
esac
shift
exec unshare --uts sh -c 'hostname "$0" && exec "$@"' "$host" "$@"
