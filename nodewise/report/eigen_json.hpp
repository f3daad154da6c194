// The report of eigenpairs as JSON.
#pragma once

#include <string>
#include <vector>

#include "nodewise/eigen/eigenpairs.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/report/frame.hpp"

namespace nodewise::report {

/// What is known of a search for eigenpairs.
struct EigenRecord {
  RunFrame run;
  run::MatrixSummary mass;  ///< of nothing where there is none
  Choice<eigen::EigenMethod> method;
  bool method_was_chosen = false;  ///< by the matrix
  eigen::Which which = eigen::Which::smallest;
  double tolerance = 0;
  std::string preconditioner;          ///< its name, "none" where there is none
  std::vector<amg::LevelInfo> levels;  ///< empty without multigrid
  double operator_complexity = 0;
  std::vector<solver::UnusedOption> unused;
  eigen::Report found;
  std::vector<mpi::SharedAccount> accounts;  ///< of the search
  run::Times times;
  std::string vectors_file;  ///< empty where none was written
  int exit_code = 0;
};

/// The report as docs/eigen.schema.json describes it.
std::string eigen_json(const EigenRecord& record);

}  // namespace nodewise::report
