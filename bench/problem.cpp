#include "problem.hpp"

#include <cmath>

#include "nodewise/base/hash.hpp"
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
