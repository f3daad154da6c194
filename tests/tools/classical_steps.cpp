// Writes what the steps of classical coarsening make of matrices, for others to compare with:
//   classical_steps TASKS
// where each line of the file TASKS is
//   MATRIX FOLDER [option=value ...] [influence=FILE]
// The options are those of a hierarchy. FOLDER, which must exist, gets strength.mtx (1 where an
// entry is strong), splitting.mtx (1: coarse, 0: fine) and, where there are coarse and fine points,
// interpolation.mtx and coarse.mtx, the Galerkin product. With a vector of influences the splitting
// is that of Ruge-Stüben's first pass with these, and there is no interpolation.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "nodewise/amg/classical.hpp"
#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/products.hpp"

namespace {

using nodewise::Array;
using nodewise::LocalIndex;
using nodewise::amg::Strength;
using Matrix = nodewise::matrix::DistMatrix<double>;

struct Task {
  std::string matrix, folder, influence;
  nodewise::amg::Options options;
};

Task parse(const std::string& line) {
  std::istringstream words(line);
  Task task;
  words >> task.matrix >> task.folder;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "influence") {
      task.influence = value;
      continue;
    }
    const auto fields = nodewise::amg::option_fields();
    const auto field =
        std::ranges::find(fields, name, &nodewise::Field<nodewise::amg::Options>::name);
    if (field == fields.end()) throw std::invalid_argument("there is no option " + name);
    field->set(task.options, value);
  }
  return task;
}

Matrix as_matrix(const Matrix& A, const Strength& strength) {
  return A.with_values(Array<double>(strength.on.begin(), strength.on.end()),
                       Array<double>(strength.off.begin(), strength.off.end()));
}

void write_splitting(const Task& task, const Matrix& A, const std::vector<LocalIndex>& coarse) {
  std::vector<double> marks(static_cast<std::size_t>(A.n_local()), 0.0);
  for (const LocalIndex i : coarse) marks[static_cast<std::size_t>(i)] = 1.0;
  nodewise::io::write_vector<double>(task.folder + "/splitting.mtx", A.rows(), marks);
}

std::vector<LocalIndex> first_pass(const Task& task, const Matrix& A, const Strength& strength) {
  const auto read = nodewise::io::read_vector<double>(A.rows(), task.influence);
  const std::vector<LocalIndex> influence(read.begin(), read.end());
  const auto splitting = nodewise::amg::coarsen::ruge_stueben(A, strength, 1, {}, influence);
  std::vector<LocalIndex> coarse;
  for (std::size_t i = 0; i < splitting.size(); ++i) {
    if (splitting[i] == nodewise::amg::coarsen::coarse)
      coarse.push_back(static_cast<LocalIndex>(i));
  }
  return coarse;
}

void run(const Task& task) {
  const auto A =
      nodewise::io::read_matrix<double>(nodewise::mpi::Comm::create(MPI_COMM_WORLD), task.matrix);
  const Strength strength = nodewise::amg::strength_of_connection(
      A, task.options.strength_threshold, task.options.max_row_sum, task.options.strength_measure);
  nodewise::io::write_matrix(task.folder + "/strength.mtx", as_matrix(A, strength));
  if (!task.influence.empty()) return write_splitting(task, A, first_pass(task, A, strength));
  const auto transfer = nodewise::amg::classical_transfer<double>(A, {}, task.options);
  write_splitting(task, A, transfer.coarse_rows);
  if (!transfer.P) return;
  nodewise::io::write_matrix(task.folder + "/interpolation.mtx", *transfer.P);
  nodewise::io::write_matrix(task.folder + "/coarse.mtx",
                             nodewise::matrix::galerkin_product(A, *transfer.P));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    if (argc != 2) throw std::invalid_argument("give the file of tasks");
    std::ifstream tasks(argv[1]);
    for (std::string line; std::getline(tasks, line);) run(parse(line));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "classical_steps: %s\n", e.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
