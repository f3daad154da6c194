#include "nodewise/roofline/kernels.hpp"

#include "nodewise/amg/relax/smoother_method.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/kernels/spmv.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/product_traffic.hpp"

namespace nodewise::roofline {

namespace {

using amg::relax::Direction;
using amg::relax::Relaxation;
using matrix::DistMatrix;
using matrix::traffic_of_own_product;
using matrix::traffic_of_product;
using matrix::traffic_of_residual;
using matrix::traffic_of_transposed;
using Matrix = DistMatrix<double>;
using model::KernelTraffic;

/// What the kernels of a level work on.
struct LevelData {
  std::shared_ptr<const Matrix> A;
  DistMatrix<float> A_single;
  std::unique_ptr<const Relaxation<double>> relaxation;
  Array<double> x, b, r;
  Array<double> coarse;
  Array<double> X, Y;  // several vectors side by side
  Array<float> x_single, y_single;
  int width;

  LevelData(std::shared_ptr<const Matrix> matrix, int vectors)
      : A(std::move(matrix)), A_single(A->with_type<float>()), width(vectors) {}

  /// Local.
  void fill(std::size_t coarse_rows) {
    const auto n = static_cast<std::size_t>(A->n_local());
    x.assign(n, 1.0);
    b.assign(n, 1.0);
    r.assign(n, 0.0);
    coarse.assign(coarse_rows, 1.0);
    X.assign(n * static_cast<std::size_t>(width), 1.0);
    Y.assign(X.size(), 0.0);
    x_single.assign(n, 1.0F);
    y_single.assign(n, 0.0F);
  }
};

template <class T>
std::span<const T> view(const Array<T>& vector) {
  return vector;
}

template <class T>
double data_bytes(const DistMatrix<T>& A, int vectors) {
  return static_cast<double>(A.memory_bytes()) +
         vectors * static_cast<double>(A.n_local()) * sizeof(T);
}

/// Makes the kernels of one level, with the counts of this rank.
class KernelList {
 public:
  KernelList(int level, std::shared_ptr<LevelData> data) : level_(level), data_(std::move(data)) {}

  KernelRecord& add(const std::string& name, const KernelTraffic& traffic, double nonzeros,
                    double bytes, std::function<void()> run) {
    kernels_.push_back({{}, std::move(run)});
    KernelRecord& record = kernels_.back().record;
    record.name = name;
    record.level = level_;
    record.traffic = traffic;
    record.nonzeros = nonzeros;
    record.data_bytes = bytes;
    return record;
  }

  void add_products();
  void add_sweeps(const amg::Options& options);
  void add_transfers(const DistMatrix<double>& P, const DistMatrix<double>* R);

  /// Collective. With the counts of all ranks.
  std::vector<Kernel> take(const mpi::Comm& comm);

 private:
  double nonzeros() const { return static_cast<double>(data_->A->nnz_local()); }

  int level_;
  std::shared_ptr<LevelData> data_;
  std::vector<Kernel> kernels_;
};

void KernelList::add_products() {
  const DistMatrix<double>& A = *data_->A;
  const auto d = data_;
  add("product", traffic_of_product<double>(A), nonzeros(), data_bytes(A, 2),
      [d] { matrix::multiply(*d->A, view(d->x), std::span<double>(d->r)); });
  if (A.comm().size() > 1) {
    add("own_product", traffic_of_own_product<double>(A), static_cast<double>(A.on().nnz()),
        data_bytes(A, 2), [d] { kernels::spmv(d->A->on(), view(d->x), std::span<double>(d->r)); });
  }
  add("residual", traffic_of_residual<double>(A), nonzeros(), data_bytes(A, 3),
      [d] { matrix::residual(*d->A, view(d->x), view(d->b), std::span<double>(d->r)); });
  add("product", traffic_of_product<double>(A, d->width), nonzeros(), data_bytes(A, 2 * d->width),
      [d] { matrix::multiply(*d->A, view(d->X), std::span<double>(d->Y), d->width); })
      .vectors = d->width;
  add("product", traffic_of_product<float>(d->A_single), nonzeros(), data_bytes(d->A_single, 2),
      [d] { matrix::multiply(d->A_single, view(d->x_single), std::span<float>(d->y_single)); })
      .single_precision = true;
}

void KernelList::add_sweeps(const amg::Options& options) {
  const auto d = data_;
  const double bytes = data_bytes(*d->A, 2) + static_cast<double>(d->relaxation->memory_bytes());
  for (const bool from_zero : {true, false}) {
    const auto answer = (*options.smoother->work)(
        {.smoother = options.smoother, .A = *d->A, .from_zero = from_zero});
    const auto* const work = std::get_if<amg::relax::SweepWork>(&answer);
    const auto run = [d, from_zero] {
      const std::span<double> x(d->x);
      if (from_zero) {
        d->relaxation->first_sweep(view(d->b), x);
      } else {
        d->relaxation->sweep(Direction::forward, view(d->b), x);
      }
    };
    // Where the matrix is not read, or more than once, there is no kappa.
    const bool once = work != nullptr && !from_zero && work->passes.value_or(1) == 1;
    add(from_zero ? "first_sweep" : "sweep", work ? work->traffic : KernelTraffic{},
        once ? nonzeros() : 0, bytes, run)
        .has_traffic = work != nullptr;
  }
}

void KernelList::add_transfers(const DistMatrix<double>& P, const DistMatrix<double>* R) {
  const auto d = data_;
  const auto entries = [](const DistMatrix<double>& A) {
    return static_cast<double>(A.nnz_local());
  };
  const double vectors = static_cast<double>(d->x.size() + d->coarse.size()) * sizeof(double);
  if (R != nullptr) {
    add("restriction", traffic_of_product<double>(*R), entries(*R), data_bytes(*R, 0) + vectors,
        [d, R] { matrix::multiply(*R, view(d->r), std::span<double>(d->coarse)); });
  } else {
    add("restriction", traffic_of_transposed<double>(P), entries(P), data_bytes(P, 0) + vectors,
        [d, &P] { matrix::multiply_transposed(P, view(d->r), std::span<double>(d->coarse)); });
  }
  add("interpolation", traffic_of_product<double>(P), entries(P), data_bytes(P, 0) + vectors,
      [d, &P] { matrix::multiply_add(P, view(d->coarse), std::span<double>(d->x)); });
}

std::vector<Kernel> KernelList::take(const mpi::Comm& comm) {
  for (Kernel& kernel : kernels_) {
    KernelRecord& r = kernel.record;
    KernelTraffic& t = r.traffic;
    for (double* count :
         {&t.flops, &t.matrix_bytes, &t.read_bytes, &t.written_bytes, &r.nonzeros, &r.data_bytes}) {
      *count = mpi::sum(comm, *count);
    }
  }
  return std::move(kernels_);
}

}  // namespace

std::vector<Kernel> level_kernels(const amg::Hierarchy<double>& hierarchy, std::size_t level,
                                  const amg::Options& given, bool symmetric,
                                  const BenchOptions& bench) {
  const std::shared_ptr<const Matrix> A = hierarchy.matrix(level);
  const DistMatrix<double>* const P = hierarchy.interpolation(level);
  const mpi::Comm& comm = A->comm();
  amg::Options options = given;
  amg::complete(options);  // as the hierarchy did
  double radius = 0;
  if (options.smoother->needs_spectral_radius) {
    radius = amg::spectral_radius(*A, amg::spectrum_options(symmetric, options));
  }
  return mpi::collectively(
             comm,
             [&] {
               auto data = std::make_shared<LevelData>(A, bench.vectors);
               data->fill(P == nullptr ? 0 : static_cast<std::size_t>(P->cols().n_local()));
               KernelList list(static_cast<int>(level), data);
               list.add_products();
               if (P != nullptr || level == 0) {  // the last level is solved
                 data->relaxation = amg::relax::make_relaxation(
                     *A, options.smoother,
                     {.spectral_radius = radius, .coarse_rows = hierarchy.coarse_rows(level)});
                 list.add_sweeps(options);
               }
               if (P != nullptr) list.add_transfers(*P, hierarchy.restriction(level));
               return list;
             })
      .take(comm);
}

std::vector<Kernel> product_kernels(const std::shared_ptr<const Matrix>& A,
                                    const BenchOptions& bench) {
  return mpi::collectively(A->comm(),
                           [&] {
                             auto data = std::make_shared<LevelData>(A, bench.vectors);
                             data->fill(0);
                             KernelList list(0, data);
                             list.add_products();
                             return list;
                           })
      .take(A->comm());
}

}  // namespace nodewise::roofline
