// The handles of the C interface, and how its functions fail.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "nodewise/base/error.hpp"
#include "nodewise/c/nodewise_mpix.h"
#include "nodewise/mpi/comm.hpp"

struct MPIX_Comm {
  std::shared_ptr<const nodewise::mpi::Comm> comm;
};

namespace nodewise::c {

/// What a caller of a sparse exchange says beside the algorithm.
struct SparseHints {
  bool recv_nnz_is_exact = false;
  bool keep_window = false;
};

}  // namespace nodewise::c

struct MPIX_Info {
  nodewise::mpi::CommSettings settings;
  nodewise::c::SparseHints hints;
};

namespace nodewise::c {

/// An error with its class of MPI already chosen; others get one by their ErrorCode.
class ClassifiedError : public Error {
 public:
  ClassifiedError(int mpi_class, const std::string& message)
      : Error(ErrorCode::invalid_argument, message), mpi_class_(mpi_class) {}
  int mpi_class() const { return mpi_class_; }

 private:
  int mpi_class_;
};

/// The class of the current exception, whose text is kept for MPIX_Last_error(). Call inside a
/// catch block only.
int report_current_exception() noexcept;

/// Runs the body of a C function.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    body();
    return MPI_SUCCESS;
  } catch (...) {
    return report_current_exception();
  }
}

/// Throws with a class of MPI unless `condition` holds.
void require(bool condition, int mpi_class, const char* what);

/// Local, and the same on all processes. Throws with MPI_ERR_COMM for one that cannot be used.
void check_comm(MPI_Comm comm);

/// Throws with MPI_ERR_COMM, on this process, where there is no communicator to agree on.
const mpi::Comm& comm_of(const MPIX_Comm* xcomm);

/// The settings of a call.
mpi::CommSettings settings_of(const MPIX_Info* xinfo, const mpi::Comm& comm);

}  // namespace nodewise::c
