#!/usr/bin/env python3
"""The networks' own tools as a peer: the command line and the output of the programs of measure.h.

    two_ends.py ucx [--samples N] [--ms MILLISECONDS] put:8,64 put.flood:4096
    two_ends.py libfabric --fi-flood PROGRAM message.rtt:8,64 put.flood:4096

Each operation of each size is a run of the tool's two ends, on a processor each, over the loopback.
ucx: ucx_perftest; UCX_TLS chooses the transports. libfabric: fi_pingpong, and gexperf's fi-flood, which
Debian has no tool for; FI_PROVIDER chooses (default: tcp;ofi_rxm). A latency is of two messages one way,
as a put and its completion.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

# Limits of one run, however small the operation: operations, bytes, and seconds.
MAX_OPERATIONS = 50000
VOLUME = 256 << 20
PATIENCE = 30


def fail(reason):
    print(f"two_ends.py: {reason}", file=sys.stderr)
    sys.exit(1)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def listens(port):
    """Without a connection, which the tool would take for its other end."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError), open(table, encoding="ascii") as file:
            for line in file.readlines()[1:]:
                words = line.split()
                if words[3] == "0A" and int(words[1].rsplit(":", 1)[1], 16) == port:
                    return True
    return False


def start(command, processor, environment):
    def bind():
        os.sched_setaffinity(0, {processor})
        # An end does not outlive this program.
        import ctypes
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    try:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, env=environment, preexec_fn=bind)
    except OSError as error:
        fail(f"{command[0]}: {error.strerror}")


def run(first, second, port, variables):
    """The output of the second end."""
    environment = {**os.environ, **variables}
    processors = sorted(os.sched_getaffinity(0))
    waiting = start(first, processors[0], environment)
    try:
        deadline = time.monotonic() + PATIENCE
        while not listens(port):
            if waiting.poll() is not None or time.monotonic() > deadline:
                fail(f"{first[0]} does not listen")
            time.sleep(0.01)
        other = start(second, processors[-1], environment)
        try:
            output, _ = other.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            other.kill()
            other.communicate()
            fail(f"{second[0]} has not ended after {PATIENCE} s")
        if other.returncode != 0:
            lines = output.strip().splitlines()
            fail(f"{second[0]}: exit status {other.returncode}" + (f": {lines[-1]}" if lines else ""))
        return output
    finally:
        waiting.kill()
        waiting.communicate()


def operations(size, milliseconds, waits_for_sockets=False):
    """As many as take some milliseconds, by a guess of 4 GB/s and 1 us, or 15 for one that waits for the
    other end over sockets."""
    guess = int(milliseconds * 1e6 / ((15000 if waits_for_sockets else 1000) + size / 4))
    return max(10, min(MAX_OPERATIONS, VOLUME // max(size, 1), guess))


def by_ucx(name, size, options):
    test, times = {"put": ("ucp_put_lat", 2), "message.rtt": ("ucp_am_lat", 2),
                   "put.flood": ("ucp_put_bw", 1)}.get(name, (None, None))
    if test is None:
        return None
    port = free_port()
    count = operations(size, options.ms, times == 2 and "tcp" in os.environ.get("UCX_TLS", ""))
    # Memory that is not UCX's own, which its shared memory would map: as libgex's segments.
    variables = {"UCX_ALLOC_PRIO": "mmap", "UCX_WARN_UNUSED_ENV_VARS": "n"}
    output = run(["ucx_perftest", "-p", str(port)],
                 ["ucx_perftest", "127.0.0.1", "-p", str(port), "-v", "-f", "-t", test, "-s", str(size),
                  "-n", str(count), "-w", str(max(1, count // 10))], port, variables)
    lines = [line for line in output.splitlines() if re.match(r"\s*\d+,", line)]
    if not lines:
        fail(f"ucx_perftest -t {test} printed no result")
    return times * float(lines[-1].split(",")[3]) * 1e3


def by_libfabric(name, size, options):
    provider = os.environ.get("FI_PROVIDER", "tcp;ofi_rxm")
    port = free_port()
    if name == "message.rtt":
        count = operations(size, options.ms, "tcp" in provider)
        words = ["fi_pingpong", "-p", provider, "-e", "rdm", "-I", str(count), "-S", str(size)]
        output = run([*words, "-B", str(port)], [*words, "-P", str(port), "127.0.0.1"], port, {})
        row = re.findall(r"^(\d\S*)\s.*?(\S+)\s+\S+$", output, re.MULTILINE)
        if not row:
            fail("fi_pingpong printed no result")
        return 2 * float(row[-1][1]) * 1e3
    if name == "put.flood" and options.fi_flood:
        words = [options.fi_flood, provider, str(size), str(operations(size, options.ms)), str(port)]
        return float(run(words, [*words, "127.0.0.1"], port, {})) * 1e3
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", choices=("ucx", "libfabric"))
    parser.add_argument("wanted", nargs="+", metavar="NAME:SIZE,...")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--ms", type=float, default=10)
    parser.add_argument("--fi-flood", help="gexperf-fi-flood of a build")
    options = parser.parse_args()
    measure = {"ucx": by_ucx, "libfabric": by_libfabric}[options.tool]
    # The tools average over a whole run.
    options.ms *= options.samples
    for word in options.wanted:
        name, _, sizes = word.partition(":")
        for size in sizes.split(","):
            ns = measure(name, int(size), options)
            if ns is not None:
                print(json.dumps({"row": f"{name}.{size}", "ns": [ns]}), flush=True)


if __name__ == "__main__":
    main()
