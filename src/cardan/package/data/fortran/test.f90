! Compares every function with numbers that were computed by another route.
program test_@NAME@
  use, intrinsic :: iso_fortran_env, only: sp => real32, dp => real64
  use @NAME@
  implicit none
  integer :: faults
  faults = 0
@TESTS@
  print '(i0, a)', faults, ' numbers differ'
  if (faults /= 0) error stop 1
contains
  subroutine differs(what, state, got, want, faults)
    character(*), intent(in) :: what
    integer, intent(in) :: state
    real(dp), intent(in) :: got(:), want(:)
    integer, intent(inout) :: faults
    real(dp) :: scale
    integer :: k
    scale = max(1.0_dp, maxval(abs(want)))
    do k = 1, size(want)
      if (abs(got(k) - want(k)) <= @TOLERANCE@ * scale) cycle
      print *, what, k, ', state', state, ':', got(k), 'instead of', want(k)
      faults = faults + 1
    end do
  end subroutine differs
end program test_@NAME@
