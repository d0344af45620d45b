#!/usr/bin/env python3
"""Each rank puts its number into the segment of the next one. Python, by cffi without a C compiler at
run time; the declarations are those of gex/functions.h.

    gexrun -n 4 python3 ring.py PREFIX
"""

import re
import subprocess
import sys

import cffi


def declarations(prefix):
    """The declarations of gex/functions.h, as cffi reads them: after the preprocessor, without what comes from
    the system's headers, whose types cffi has."""
    text = subprocess.run(["cc", "-E", f"-I{prefix}/include", "-x", "c", "-"], text=True, check=True,
                          input="#include <gex/functions.h>\n", capture_output=True).stdout
    ours, lines = False, []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = marker.group(1).startswith(f"{prefix}/include/")
        elif ours and not line.startswith("#"):
            lines.append(line)
    return "\n".join(lines)


ffi = cffi.FFI()
ffi.cdef(declarations(sys.argv[1]))
gex = ffi.dlopen(f"{sys.argv[1]}/lib/libgex.so")

client, endpoint, team = ffi.new("gex_Client_t *"), ffi.new("gex_EP_t *"), ffi.new("gex_TM_t *")
gex.gex_Client_Init(client, endpoint, team, b"RING", ffi.NULL, ffi.NULL, 0)
segment = ffi.new("gex_Segment_t *")
gex.gex_Segment_Attach(segment, team[0], 1 << 16)
rank, size = gex.gex_TM_QueryRank(team[0]), gex.gex_TM_QuerySize(team[0])
following = (rank + 1) % size

there = ffi.new("void **")
gex.gex_Event_Wait(
    gex.gex_EP_QueryBoundSegmentNB(team[0], following, there, ffi.NULL, ffi.NULL, 0))
gex.gex_RMA_PutBlocking(team[0], following, there[0], ffi.new("uint32_t *", rank), 4, 0)
gex.gex_Event_Wait(gex.gex_Coll_BarrierNB(team[0], 0))

arrived = ffi.cast("uint32_t *", gex.gex_Segment_QueryAddr(segment[0]))[0]
print(f"rank {rank} of {size}: {'right' if arrived == (rank - 1) % size else 'wrong'}", flush=True)
gex.gasnet_exit(0)
