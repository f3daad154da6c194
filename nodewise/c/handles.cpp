#include "nodewise/c/handles.hpp"

#include <new>
#include <vector>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::c {

namespace {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

int class_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::out_of_memory:
      return MPI_ERR_NO_MEM;
    case ErrorCode::index_overflow:
      return MPI_ERR_COUNT;
    case ErrorCode::mpi:
      return MPI_ERR_OTHER;
    case ErrorCode::internal:
      return MPI_ERR_INTERN;
    default:
      return MPI_ERR_ARG;
  }
}

int class_of_current_exception(std::string& text) {
  try {
    throw;
  } catch (const ClassifiedError& error) {
    text = error.what();
    return error.mpi_class();
  } catch (...) {
    const Error error = mpi::current_error();
    text = error.what();
    return class_of(error.code());
  }
}

}  // namespace

int report_current_exception() noexcept {
  try {
    return class_of_current_exception(last_error());
  } catch (...) {  // no memory for the text
    return MPI_ERR_NO_MEM;
  }
}

void require(bool condition, int mpi_class, const char* what) {
  if (!condition) throw ClassifiedError(mpi_class, what);
}

void check_comm(MPI_Comm comm) {
  require(comm != MPI_COMM_NULL, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  int is_inter = 0;
  mpi::check(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  require(!is_inter, MPI_ERR_COMM,
          "the communicator is an intercommunicator; only intracommunicators are supported");
}

const mpi::Comm& comm_of(const MPIX_Comm* xcomm) {
  require(xcomm != nullptr, MPI_ERR_COMM, "the MPIX_Comm is NULL");
  return *xcomm->comm;
}

namespace {

std::span<const Field<SparseHints>> hint_fields() {
  static const std::vector<Field<SparseHints>> fields = {
      field("recv_nnz_is_exact", &SparseHints::recv_nnz_is_exact, "How much comes is known"),
      field("keep_window", &SparseHints::keep_window, "A window stays with the communicator"),
  };
  return fields;
}

void set_option_of(MPIX_Info& xinfo, const char* key, const char* value) {
  const auto hints = hint_fields();
  const bool is_hint =
      std::ranges::any_of(hints, [&](const auto& hint) { return hint.name == key; });
  if (is_hint) return set_option(xinfo.hints, hints, key, value);
  set_option(xinfo.settings, mpi::all_setting_fields(), key, value);
}

}  // namespace

mpi::CommSettings settings_of(const MPIX_Info* xinfo, const mpi::Comm& comm) {
  return xinfo != nullptr ? xinfo->settings : comm.settings();
}

}  // namespace nodewise::c

using namespace nodewise;

extern "C" {

int MPIX_Comm_init(MPIX_Comm** xcomm, MPI_Comm comm) {
  return c::guarded([&] {
    c::check_comm(comm);
    c::require(xcomm != nullptr, MPI_ERR_ARG, "MPIX_Comm_init: no place for the result");
    auto made = std::make_unique<MPIX_Comm>();
    made->comm = mpi::Comm::create(comm);
    *xcomm = made.release();
  });
}

int MPIX_Comm_init_nodes(MPIX_Comm** xcomm, MPI_Comm comm, const int node_of_rank[]) {
  return c::guarded([&] {
    c::check_comm(comm);
    c::require(xcomm != nullptr, MPI_ERR_ARG, "MPIX_Comm_init_nodes: no place for the result");
    c::require(node_of_rank != nullptr, MPI_ERR_ARG, "MPIX_Comm_init_nodes: no nodes given");
    int size = 0;
    mpi::check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    auto made = std::make_unique<MPIX_Comm>();
    made->comm = mpi::Comm::create(comm, std::span(node_of_rank, static_cast<std::size_t>(size)));
    *xcomm = made.release();
  });
}

int MPIX_Comm_free(MPIX_Comm** xcomm) {
  if (xcomm == nullptr) return MPI_SUCCESS;
  delete *xcomm;
  *xcomm = nullptr;
  return MPI_SUCCESS;
}

int MPIX_Info_init(MPIX_Info** xinfo) {
  return c::guarded([&] {
    c::require(xinfo != nullptr, MPI_ERR_ARG, "MPIX_Info_init: no place for the result");
    *xinfo = std::make_unique<MPIX_Info>().release();
  });
}

int MPIX_Info_set(MPIX_Info* xinfo, const char* key, const char* value) {
  return c::guarded([&] {
    c::require(xinfo != nullptr, MPI_ERR_INFO, "MPIX_Info_set: the MPIX_Info is NULL");
    c::require(key != nullptr, MPI_ERR_INFO_KEY, "MPIX_Info_set: no key");
    c::require(value != nullptr, MPI_ERR_INFO_VALUE, "MPIX_Info_set: no value");
    try {
      c::set_option_of(*xinfo, key, value);
    } catch (const Error& error) {
      const bool is_key = error.code() == ErrorCode::unknown_option;
      throw c::ClassifiedError(is_key ? MPI_ERR_INFO_KEY : MPI_ERR_INFO_VALUE, error.what());
    }
  });
}

int MPIX_Info_free(MPIX_Info** xinfo) {
  if (xinfo == nullptr) return MPI_SUCCESS;
  delete *xinfo;
  *xinfo = nullptr;
  return MPI_SUCCESS;
}

const char* MPIX_Last_error(void) {
  return c::last_error().c_str();
}

}  // extern "C"
