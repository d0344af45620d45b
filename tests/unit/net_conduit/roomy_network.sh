#!/bin/sh
# roomy_network.sh COMMAND ARGUMENTS...: runs it in a network of its own, of a loopback only, whose
# connections have receive buffers of 1 MiB from the start. Exits with 77 where the machine forbids it.
#
# libfabric's provider "sockets" looks at the head of a message without taking it until all of it is
# there. With the usual 128 KiB a packet of the loopback fills the buffer alone, as long as a byte of
# it has not been taken: the rest of a head that begins at its end never comes.
set -eu

prepare='ip link set lo up && echo "4096 1048576 33554432" >/proc/sys/net/ipv4/tcp_rmem'
if ! unshare --net sh -c "$prepare"; then
  echo "skipped: no network of its own can be made here" >&2
  exit 77
fi
exec unshare --net sh -c "$prepare && exec \"\$@\"" sh "$@"
