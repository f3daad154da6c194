! Poisson's equation on a line, from Fortran: every process puts the entries of its rows one by one.
!   mpifort poisson.f90 -lnodewise_c -o poisson && mpirun -n 2 ./poisson
module nodewise
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    function nodewise_last_error() bind(c) result(text)
      import
      type(c_ptr) :: text
    end function
    function nodewise_options_create(options) bind(c) result(status)
      import
      type(c_ptr), intent(out) :: options
      integer(c_int) :: status
    end function
    function nodewise_options_set(options, name, value) bind(c) result(status)
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int) :: status
    end function
    subroutine nodewise_options_free(options) bind(c)
      import
      type(c_ptr), intent(inout) :: options
    end subroutine
    function nodewise_matrix_create_f(matrix, comm, n_local) bind(c) result(status)
      import
      type(c_ptr), intent(out) :: matrix
      integer(c_int), value :: comm
      integer(c_int64_t), value :: n_local
      integer(c_int) :: status
    end function
    function nodewise_matrix_range(matrix, first, last) bind(c) result(status)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t), intent(out) :: first, last
      integer(c_int) :: status
    end function
    function nodewise_matrix_add(matrix, row, col, entry) bind(c) result(status)
      import
      type(c_ptr), value :: matrix
      integer(c_int64_t), value :: row, col
      real(c_double), value :: entry
      integer(c_int) :: status
    end function
    subroutine nodewise_matrix_free(matrix) bind(c)
      import
      type(c_ptr), intent(inout) :: matrix
    end subroutine
    function nodewise_solver_create(solver, matrix, options) bind(c) result(status)
      import
      type(c_ptr), intent(out) :: solver
      type(c_ptr), value :: matrix, options
      integer(c_int) :: status
    end function
    function nodewise_solver_solve(solver, b, x, n_rhs, converged) bind(c) result(status)
      import
      type(c_ptr), value :: solver
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: x(*)
      integer(c_int), value :: n_rhs
      integer(c_int), intent(out) :: converged
      integer(c_int) :: status
    end function
    function nodewise_solver_iterations(solver, iterations) bind(c) result(status)
      import
      type(c_ptr), value :: solver
      integer(c_int), intent(out) :: iterations
      integer(c_int) :: status
    end function
    subroutine nodewise_solver_free(solver) bind(c)
      import
      type(c_ptr), intent(inout) :: solver
    end subroutine
  end interface
end module

program poisson
  use mpi
  use nodewise
  implicit none
  integer, parameter :: n_local = 1000
  type(c_ptr) :: options, matrix, solver
  integer(c_int64_t) :: first, last, row, n
  integer(c_int) :: converged, iterations
  integer :: rank, size, ierror
  real(c_double) :: b(n_local), x(n_local)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  n = int(n_local, c_int64_t) * size

  call check(nodewise_options_create(options))
  call check(nodewise_options_set(options, 'solver' // c_null_char, 'cg' // c_null_char))
  call check(nodewise_matrix_create_f(matrix, MPI_COMM_WORLD, int(n_local, c_int64_t)))
  call check(nodewise_matrix_range(matrix, first, last))
  do row = first, last - 1  ! rows count from 0
    call check(nodewise_matrix_add(matrix, row, row, 2.0_c_double))
    if (row > 0) call check(nodewise_matrix_add(matrix, row, row - 1, -1.0_c_double))
    if (row < n - 1) call check(nodewise_matrix_add(matrix, row, row + 1, -1.0_c_double))
  end do
  call check(nodewise_solver_create(solver, matrix, options))

  b = 1
  x = 0
  call check(nodewise_solver_solve(solver, b, x, 1, converged))
  call check(nodewise_solver_iterations(solver, iterations))
  if (rank == 0) then
    if (converged == 1) print '(a, i0, a)', 'converged after ', iterations, ' iterations'
    if (converged == 0) print '(a)', 'NOT converged'
  end if

  call nodewise_solver_free(solver)
  call nodewise_matrix_free(matrix)
  call nodewise_options_free(options)
  call MPI_Finalize(ierror)

contains

  ! Ends the program with the library's message: one process prints it, since all fail alike.
  subroutine check(status)
    integer(c_int), intent(in) :: status
    character(kind=c_char), pointer :: text(:)
    integer :: length, k
    if (status == 0) return
    call c_f_pointer(nodewise_last_error(), text, [4096])
    length = 0
    do while (text(length + 1) /= c_null_char)
      length = length + 1
    end do
    if (rank == 0) print '(*(a))', (text(k), k = 1, length)
    call MPI_Finalize(ierror)
    stop 1
  end subroutine
end program
