#include "problem.hpp"

#include <cmath>

#include "nodewise/base/hash.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::bench {

Problem parse_problem(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw Error(ErrorCode::invalid_argument, "expected name:n, found '" + text + "'");
  }
  return {text.substr(0, colon), std::stoi(text.substr(colon + 1))};
}

std::shared_ptr<const mpi::Comm> make_comm(int ranks_per_node, const mpi::CommSettings& settings) {
  if (ranks_per_node == 0) return mpi::Comm::create(MPI_COMM_WORLD, settings);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> node_of_rank;
  for (int r = 0; r < size; ++r) node_of_rank.push_back(r / ranks_per_node);
  return mpi::Comm::create(MPI_COMM_WORLD, node_of_rank, settings);
}

std::shared_ptr<const Matrix> make_matrix(const std::shared_ptr<const mpi::Comm>& comm,
                                          const Problem& problem) {
  io::GalleryOptions options;
  set_option(options, io::gallery_fields(), "problem", problem.name);
  options.n = problem.n;
  return std::make_shared<const Matrix>(io::generate<double>(comm, options));
}

std::shared_ptr<const Matrix> dealt_out(const Matrix& A) {
  const GlobalIndex first = A.rows().first();
  const GlobalIndex n_ranks = A.comm().size();
  const auto layout = comm::Layout::uniform(A.shared_comm(), A.rows().n_global());
  const auto place = [&](GlobalIndex i) {
    return layout.begin(static_cast<int>((i - first) % n_ranks)) + (i - first) / n_ranks;
  };
  matrix::Assembler<double> assembler(layout, layout);
  assembler.reserve(static_cast<std::size_t>(A.nnz_local()));
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const GlobalIndex row = place(A.rows().to_global(i));
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      assembler.add(row, place(A.cols().to_global(A.on().cols[p])), A.on().vals[p]);
    }
    for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const GlobalIndex ghost = A.ghosts()[static_cast<std::size_t>(A.off().cols[p])];
      assembler.add(row, place(ghost), A.off().vals[p]);
    }
  }
  return std::make_shared<const Matrix>(assembler.finish());
}

std::vector<double> make_rhs(const comm::Layout& layout) {
  std::vector<double> b(static_cast<std::size_t>(layout.n_local()));
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = hash_normal(static_cast<std::uint64_t>(layout.begin()) + i);
  }
  return b;
}

namespace {

double norm(const mpi::Comm& comm, std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(mpi::sum(comm, sum));
}

}  // namespace

double true_relative_residual(const Matrix& A, std::span<const double> b,
                              std::span<const double> x) {
  std::vector<double> r(b.size());
  matrix::residual(A, x, b, std::span<double>(r));
  return norm(A.comm(), r) / norm(A.comm(), b);
}

}  // namespace nodewise::bench
