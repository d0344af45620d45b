// Each rank puts its number into the segment of the next one. Go, by cgo, which reads
// gex/functions.h itself.
//
//	CGO_CFLAGS="$(pkg-config --cflags gex)" CGO_LDFLAGS="$(pkg-config --libs gex)" go build ring.go
//	gexrun -n 4 ./ring
package main

// #include <gex/functions.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

func main() {
	// Implicit operations belong to a thread.
	runtime.LockOSThread()
	var client C.gex_Client_t
	var endpoint C.gex_EP_t
	var team C.gex_TM_t
	var segment C.gex_Segment_t
	name := C.CString("RING")
	C.gex_Client_Init(&client, &endpoint, &team, name, nil, nil, 0)
	C.free(unsafe.Pointer(name))
	C.gex_Segment_Attach(&segment, team, 1<<16)
	rank, size := C.gex_TM_QueryRank(team), C.gex_TM_QuerySize(team)
	following := (rank + 1) % size

	var there unsafe.Pointer
	C.gex_Event_Wait(C.gex_EP_QueryBoundSegmentNB(team, following, &there, nil, nil, 0))
	C.gex_RMA_PutBlocking(team, following, there, unsafe.Pointer(&rank), 4, 0)
	C.gex_Event_Wait(C.gex_Coll_BarrierNB(team, 0))

	arrived := *(*C.gex_Rank_t)(C.gex_Segment_QueryAddr(segment))
	verdict := "wrong"
	if arrived == (rank+size-1)%size {
		verdict = "right"
	}
	fmt.Printf("rank %d of %d: %s\n", rank, size, verdict)
	C.gasnet_exit(0)
}
