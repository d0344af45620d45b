#!/bin/sh
# slurm.sh FOLDER [RSH ADDRESS NODE=ADDRESS...]: runs a Slurm until standard input ends, for srun with
# SLURM_CONF=FOLDER/slurm.conf. Of this one machine, or of nodes that reach it at ADDRESS, see FOLDER,
# have a /tmp of their own, and on which `RSH NODE WORD...` runs a command. Prints "ready" when jobs can
# be started; else why not, and exits with 1. Everything of it is in FOLDER, which goes with it, and its
# ports and keys are its own.
set -eu
PATH=$PATH:/usr/sbin

folder=$1
host=$(uname -n | cut -d. -f1)
rsh=${2:-}
address=${3:-127.0.0.1}
# Else it is in /tmp, named by the number of the job, and a job that finds it there does not start.
scratch=$folder/spool
if [ -n "$rsh" ]; then
  shift 3
  scratch=/tmp
else
  set -- "$host=127.0.0.1"
fi
# An odd place, and different for each that runs.
port=$((21000 + $$ % 9000))
mkdir -p "$folder/state" "$folder/spool"
chmod 755 "$folder"
head -c 128 /dev/urandom >"$folder/key"
chmod 400 "$folder/key"
cat >"$folder/slurm.conf" <<EOF
ClusterName=libgex
SlurmctldHost=$host($address)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
KillWait=1
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE
EOF
for node; do
  echo "NodeName=${node%=*} NodeAddr=${node#*=} CPUs=16 Boards=1 SocketsPerBoard=1" \
    "CoresPerSocket=16 ThreadsPerCore=1" >>"$folder/slurm.conf"
done
echo "PMIxCliTmpDirBase=$scratch" >"$folder/mpi.conf"

parts=
# The process that runs a job's step is no child of this one. All that belongs to this Slurm has its
# place in the environment.
steps() {
  grep -lszx "SLURM_CONF=$folder/slurm.conf" /proc/[0-9]*/environ | cut -d / -f 3
}
end() {
  trap - EXIT
  # shellcheck disable=SC2046,SC2086  # lists of processes
  kill -KILL $parts $(steps) 2>/dev/null || true
  wait
  # A job's last helper may still write.
  until rm -rf "$folder" 2>/dev/null; do sleep 0.1; done
}
trap end EXIT
trap 'exit 1' INT TERM HUP

start() {
  "$@" </dev/null >/dev/null 2>&1 &
  parts="$parts $!"
}
start munged --force --foreground --key-file="$folder/key" --socket="$folder/munge" \
  --pid-file="$folder/munge.pid" --log-file="$folder/munge.log" --seed-file="$folder/seed"
export SLURM_CONF="$folder/slurm.conf"
start slurmctld -D -c
for node; do
  # shellcheck disable=SC2086  # no word, or one
  start $rsh ${rsh:+"${node%=*}"} slurmd -D -c -N "${node%=*}"
done
tries=0
until [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 300 ]; then
    grep -h error "$folder/slurmctld.log" "$folder"/slurmd.*.log "$folder/munge.log" >&2 || true
    echo "slurm.sh: the node is not ready" >&2
    exit 1
  fi
  sleep 0.1
done
echo ready
cat >/dev/null
