! Each rank puts its number into the segment of the next one. Fortran: the interfaces are those of
! gex/functions.h, written for iso_c_binding.
!
!   gfortran ring.f90 -o ring $(pkg-config --libs gex) && gexrun -n 4 ./ring
module gex
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function gex_Client_Init(client, ep, tm, name, argc, argv, flags) &
        bind(c, name='gex_Client_Init')
      import
      type(c_ptr), intent(out) :: client, ep, tm
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: argc, argv
      integer(c_int32_t), value :: flags
    end function
    integer(c_int) function gex_Segment_Attach(segment, tm, size) bind(c, name='gex_Segment_Attach')
      import
      type(c_ptr), intent(out) :: segment
      type(c_ptr), value :: tm
      integer(c_size_t), value :: size
    end function
    type(c_ptr) function gex_Segment_QueryAddr(segment) bind(c, name='gex_Segment_QueryAddr')
      import
      type(c_ptr), value :: segment
    end function
    integer(c_int32_t) function gex_TM_QueryRank(tm) bind(c, name='gex_TM_QueryRank')
      import
      type(c_ptr), value :: tm
    end function
    integer(c_int32_t) function gex_TM_QuerySize(tm) bind(c, name='gex_TM_QuerySize')
      import
      type(c_ptr), value :: tm
    end function
    type(c_ptr) function gex_EP_QueryBoundSegmentNB(tm, rank, owner, local, size, flags) &
        bind(c, name='gex_EP_QueryBoundSegmentNB')
      import
      type(c_ptr), value :: tm, local, size
      integer(c_int32_t), value :: rank, flags
      type(c_ptr), intent(out) :: owner
    end function
    integer(c_int) function gex_RMA_PutBlocking(tm, rank, dest, src, nbytes, flags) &
        bind(c, name='gex_RMA_PutBlocking')
      import
      type(c_ptr), value :: tm, dest, src
      integer(c_int32_t), value :: rank, flags
      integer(c_size_t), value :: nbytes
    end function
    type(c_ptr) function gex_Coll_BarrierNB(tm, flags) bind(c, name='gex_Coll_BarrierNB')
      import
      type(c_ptr), value :: tm
      integer(c_int32_t), value :: flags
    end function
    subroutine gex_Event_Wait(event) bind(c, name='gex_Event_Wait')
      import
      type(c_ptr), value :: event
    end subroutine
    subroutine gasnet_exit(code) bind(c, name='gasnet_exit')
      import
      integer(c_int), value :: code
    end subroutine
  end interface
end module

program ring
  use gex
  implicit none
  type(c_ptr) :: client, endpoint, team, segment, there
  integer(c_int32_t), target :: rank
  integer(c_int32_t) :: members, following
  integer(c_int32_t), pointer :: arrived
  integer :: status
  status = gex_Client_Init(client, endpoint, team, 'RING'//c_null_char, c_null_ptr, c_null_ptr, 0)
  status = gex_Segment_Attach(segment, team, 65536_c_size_t)
  rank = gex_TM_QueryRank(team)
  members = gex_TM_QuerySize(team)
  following = mod(rank + 1, members)

  call gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, following, there, c_null_ptr, c_null_ptr, 0))
  status = gex_RMA_PutBlocking(team, following, there, c_loc(rank), 4_c_size_t, 0)
  call gex_Event_Wait(gex_Coll_BarrierNB(team, 0))

  call c_f_pointer(gex_Segment_QueryAddr(segment), arrived)
  print '(a,i0,a,i0,a)', 'rank ', rank, ' of ', members, &
    merge(': right', ': wrong', arrived == mod(rank + members - 1, members))
  flush (6)
  call gasnet_exit(0)
end program
