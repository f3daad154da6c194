#include "nodewise/solver/prepared_system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nodewise/advise/system_facts.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/row_entries.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solver/method_choice.hpp"

namespace nodewise::solver {

namespace {

using MatrixPointer = std::shared_ptr<const matrix::DistMatrix<double>>;

/// Collective. What the preconditioner is set up from.
MatrixPointer seen(const MatrixPointer& A, const Rearrangement* way, const Options& options) {
  if (way == nullptr) return A;
  return matrix::with_blocks_where_full<double>(way->matrix(), options.amg.unknowns);
}

/// Local. Whether the diagonal entry counts beside the others of its row.
bool has_diagonal(const matrix::DistMatrix<double>& A, LocalIndex i) {
  double diagonal = 0, others = 0;
  matrix::for_each_entry(A, i, [&](LocalIndex col, double value) {
    (col == i ? diagonal : others) += std::abs(value);
  });
  return diagonal > advise::near_zero_diagonal * others;
}

/// Collective. Whether some row has nothing on the diagonal, or next to nothing.
bool lacks_diagonal(const matrix::DistMatrix<double>& A) {
  LocalIndex i = 0;
  while (i < A.n_local() && has_diagonal(A, i)) ++i;
  return mpi::max(A.comm(), std::int32_t{i < A.n_local()}) == 1;
}

/// Collective. In which order the rows are to be taken, where that is left to the library.
Choice<RowPermutationMethod> choose_order(const MatrixPointer& A, const MethodOptions& method,
                                          bool symmetric) {
  if (!method.permute_rows.is_automatic()) return method.permute_rows;
  const bool gains =
      method.preconditioner->facts.wants_diagonal && !symmetric && lacks_diagonal(*A);
  return gains ? "matching" : "none";
}

/// Collective. Null where the preconditioner is to see the matrix as it is.
std::unique_ptr<Rearrangement> rearrange(const MatrixPointer& A, const Options& options,
                                         amg::ProblemInfo<double>& info) {
  const MethodOptions& method = options.method;
  const bool is_open = method.permute_rows.is_automatic();
  const bool may_permute =
      is_open ? method.preconditioner->facts.wants_diagonal : *method.permute_rows->find != nullptr;
  if (*method.scale->find == nullptr && !may_permute) return nullptr;
  if (offload::solves(method.device)) {
    throw Error(ErrorCode::unsupported,
                "`scale` and `permute_rows` are for the host, which `device " +
                    method.device.name() + "` leaves out: drop them");
  }
  // Only a given answer is one of A; the setup asks about another matrix itself.
  const bool symmetric = info.symmetric ? *info.symmetric : matrix::is_symmetric(*A);
  const Choice<RowPermutationMethod> order = choose_order(A, method, symmetric);
  if (*method.scale->find == nullptr && *order->find == nullptr) return nullptr;
  auto way = std::make_unique<Rearrangement>(A, method.scale, order, symmetric);
  if (way->permutes()) info.symmetric.reset();
  for (amg::NearNullSpace<double>* vectors : {&info.near_null_space, &info.left_near_null_space}) {
    way->to_unknowns(vectors->values, std::max(vectors->n_vectors, 1));
  }
  return way;
}

}  // namespace

void PreparedSystem::set_up(const std::shared_ptr<const matrix::DistMatrix<double>>& matrix,
                            amg::ProblemInfo<double> info, const Options& options,
                            const amg::LevelObserver& observe, RowFields fields) {
  A = matrix_of_solve(matrix, options);
  if (offload::sets_up(options.method.device)) {
    device = (*options.method.device->set_up)(
        {options.method.device.options<offload::DeviceOptions>(), A, options.amg, info, observe});
    return;
  }
  rearrangement = rearrange(A, options, info);
  const Choice<PreconditionerMethod>& method = options.method.preconditioner;
  preconditioner = (*method->make)({seen(A, rearrangement.get(), options), method, options.amg,
                                    std::move(info), observe, std::move(fields)});
  if (preconditioner.hierarchy != nullptr && (!rearrangement || !rearrangement->permutes())) {
    A = matrix_as_chosen(A, *preconditioner.hierarchy, options);
  }
  make_map();
  if (preconditioner.hierarchy != nullptr) move_to_device(options);
}

void PreparedSystem::make_map() {
  rearranged_.reset();
  if (rearrangement) {
    rearranged_ =
        std::make_unique<RearrangedPreconditioner>(*rearrangement, preconditioner.map.get());
  }
}

void PreparedSystem::rebuild(const MatrixPointer& next, const Options& options, amg::Reuse reuse) {
  if (offload::sets_up(options.method.device)) {
    device->rebuild(next, reuse);
    A = next;
    return;
  }
  std::unique_ptr<Rearrangement> way;
  if (rearrangement) way = std::make_unique<Rearrangement>(rearrangement->again(next));
  (*options.method.preconditioner->rebuild)(preconditioner, seen(next, way.get(), options), reuse);
  A = next;
  rearrangement = std::move(way);
  make_map();
  if (preconditioner.hierarchy != nullptr) move_to_device(options);
}

void PreparedSystem::move_to_device(const Options& options) {
  const offload::DeviceMethod::Make make = *options.method.device->make;
  if (make == nullptr) return;
  device.reset();  // there may be room for one only
  device =
      make({options.method.device.options<offload::DeviceOptions>(), A, *preconditioner.hierarchy});
}

}  // namespace nodewise::solver
