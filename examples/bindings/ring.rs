// Each rank puts its number into the segment of the next one. Rust: the declarations are those that
//
//     bindgen PREFIX/include/gex/functions.h -- -IPREFIX/include
//
// makes; those that this program needs are written out.
//
//     rustc -L PREFIX/lib ring.rs && LD_LIBRARY_PATH=PREFIX/lib gexrun -n 4 ./ring
#![allow(non_camel_case_types, non_snake_case)]

use std::os::raw::{c_char, c_int, c_void};
use std::ptr::null_mut;

type Handle = *mut c_void;

#[link(name = "gex")]
extern "C" {
    fn gex_Client_Init(client: *mut Handle, endpoint: *mut Handle, team: *mut Handle,
        name: *const c_char, argc: *mut c_int, argv: *mut *mut *mut c_char, flags: u32) -> c_int;
    fn gex_Segment_Attach(segment: *mut Handle, team: Handle, size: usize) -> c_int;
    fn gex_Segment_QueryAddr(segment: Handle) -> *mut c_void;
    fn gex_TM_QueryRank(team: Handle) -> u32;
    fn gex_TM_QuerySize(team: Handle) -> u32;
    fn gex_EP_QueryBoundSegmentNB(team: Handle, rank: u32, owner: *mut *mut c_void,
        local: *mut *mut c_void, size: *mut usize, flags: u32) -> Handle;
    fn gex_RMA_PutBlocking(team: Handle, rank: u32, destination: *mut c_void,
        source: *const c_void, bytes: usize, flags: u32) -> c_int;
    fn gex_Coll_BarrierNB(team: Handle, flags: u32) -> Handle;
    fn gex_Event_Wait(event: Handle);
    fn gasnet_exit(code: c_int) -> !;
}

fn main() {
    let (mut client, mut endpoint, mut team) = (null_mut(), null_mut(), null_mut());
    let (mut segment, mut there) = (null_mut(), null_mut());
    unsafe {
        let name = b"RING\0".as_ptr() as *const c_char;
        gex_Client_Init(&mut client, &mut endpoint, &mut team, name, null_mut(), null_mut(), 0);
        gex_Segment_Attach(&mut segment, team, 1 << 16);
        let (rank, size) = (gex_TM_QueryRank(team), gex_TM_QuerySize(team));
        let following = (rank + 1) % size;

        gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, following, &mut there, null_mut(),
            null_mut(), 0));
        let source: *const u32 = &rank;
        gex_RMA_PutBlocking(team, following, there, source as *const c_void, 4, 0);
        gex_Event_Wait(gex_Coll_BarrierNB(team, 0));

        let arrived = *(gex_Segment_QueryAddr(segment) as *const u32);
        let right = arrived == (rank + size - 1) % size;
        println!("rank {} of {}: {}", rank, size, if right { "right" } else { "wrong" });
        gasnet_exit(0);
    }
}
