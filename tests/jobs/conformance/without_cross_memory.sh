#!/bin/sh
# Runs a rank's program, which the kernel lets copy no other rank's memory in every second rank:
#   without_cross_memory.sh PROGRAM ARGUMENTS...
# GEX_JOB is VERSION:FD:RANK:SIZE:INODE.
rest=${GEX_JOB#*:*:}
rank=${rest%%:*}
[ $((rank % 2)) = 0 ] || export GEX_CROSS_MEMORY=0
exec "$@"
