#include "nodewise/amg/messages/setup_messages.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "nodewise/amg/coarsen/unknowns.hpp"
#include "nodewise/amg/coarsen/virtual_ranks.hpp"
#include "nodewise/amg/messages/copy_messages.hpp"
#include "nodewise/amg/messages/splitting_messages.hpp"
#include "nodewise/amg/relax/row_scales.hpp"
#include "nodewise/amg/setup/level_choice.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"
#include "nodewise/kernels/spgemm.hpp"
#include "nodewise/matrix/block_matrix.hpp"

namespace nodewise::amg {

namespace {

using kernels::Csr;
using matrix::DistMatrix;
using model::MessageStages;
using Starts = std::span<const GlobalIndex>;

/// The products of estimates of spectral radii, which end early where nothing is left: lanczos()
/// reduces once for each and once before, arnoldi() twice and once.
int products_of_radii(bool symmetric, std::int64_t estimates, std::int64_t reductions) {
  return static_cast<int>(std::max<std::int64_t>(0, reductions - estimates) / (symmetric ? 1 : 2));
}

/// Those of an estimate that is made for this.
int products_of_radius(const matrix::DistMatrix<double>& A, bool symmetric,
                       const Options& options) {
  const auto reductions = [&] {
    return collectives_of(A.comm().ledger().accounts(), "dot_products", mpi::no_level);
  };
  const std::int64_t before = reductions();
  {
    const mpi::Scope scope(A.comm(), "spectral_radius", mpi::no_level);
    spectral_radius(A, spectrum_options(symmetric, options));
  }
  return products_of_radii(symmetric, 1, reductions() - before);
}

/// The columns of the rows of P^T A P that virtual ranks make for others, ascending, one ghost of P
/// after the other: those of A P where the ghost's column of P has entries on the rank.
class PartialRows {
 public:
  PartialRows(const Csr<double>& A, const Csr<double>& P)
      : A_(A), P_(P), last_(static_cast<std::size_t>(P.n_cols), -1) {}

  comm::Records<GlobalIndex> of_ranks(Starts fine, Starts coarse) {
    for (std::size_t r = 0; r + 1 < fine.size(); ++r) {
      entries_.clear();
      for (auto i = static_cast<LocalIndex>(fine[r]); i < fine[r + 1]; ++i) {
        for (Offset k = P_.begin(i); k < P_.end(i); ++k) {
          const LocalIndex j = P_.cols[static_cast<std::size_t>(k)];
          if (j < coarse[r] || j >= coarse[r + 1]) entries_.emplace_back(j, i);
        }
      }
      std::sort(entries_.begin(), entries_.end());
      add_records();
    }
    return std::move(records_);
  }

 private:
  void add_records() {
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      add_row(entries_[e].second);
      const bool is_last = e + 1 == entries_.size() || entries_[e + 1].first != entries_[e].first;
      if (!is_last) continue;
      std::sort(records_.data.begin() + records_.offsets.back(), records_.data.end());
      records_.offsets.push_back(static_cast<Offset>(records_.data.size()));
    }
  }

  /// Row i of A P, into the record that is being made.
  void add_row(LocalIndex i) {
    const auto record = static_cast<std::int64_t>(records_.size());
    for (Offset k = A_.begin(i); k < A_.end(i); ++k) {
      const LocalIndex m = A_.cols[static_cast<std::size_t>(k)];
      for (Offset l = P_.begin(m); l < P_.end(m); ++l) {
        const LocalIndex column = P_.cols[static_cast<std::size_t>(l)];
        std::int64_t& last = last_[static_cast<std::size_t>(column)];
        if (last == record) continue;
        last = record;
        records_.data.push_back(column);
      }
    }
  }

  const Csr<double>& A_;
  const Csr<double>& P_;
  std::vector<std::int64_t> last_;  // the record that has a column, by column
  std::vector<std::pair<LocalIndex, LocalIndex>> entries_;  // of P at ghosts: column, row
  comm::Records<GlobalIndex> records_;
};

/// Which unknown each row of a level is of: a coarse point has that of its fine point.
Unknowns unknowns_of_rows(const Hierarchy<double>& hierarchy, std::size_t level, int unknowns) {
  Unknowns of_rows = interleaved_unknowns(hierarchy.matrix(0)->rows(), unknowns);
  for (std::size_t l = 0; l < level; ++l) {
    Unknowns of_coarse;
    for (const LocalIndex i : hierarchy.coarse_rows(l)) {
      of_coarse.push_back(of_rows[static_cast<std::size_t>(i)]);
    }
    of_rows = std::move(of_coarse);
  }
  return of_rows;
}

/// The places of a matrix in blocks, by points, and where the points of each rank start.
struct Points {
  Csr<double> pattern;
  std::vector<GlobalIndex> starts;

  Points(const kernels::Bsr<double>& A, Starts rows)
      : pattern(A.n_rows, A.n_cols), starts(rows.begin(), rows.end()) {
    pattern.row_ptr = A.row_ptr;
    pattern.cols = A.cols;
    for (GlobalIndex& start : starts) start /= A.block;
  }
};

Csr<double> product(const Csr<double>& A, const Csr<double>& P) {
  return kernels::spgemm<double>({.on = &A, .n_cols = A.n_cols}, A.n_rows,
                                 {.on = &P, .n_cols = P.n_cols});
}

}  // namespace

LevelSetup::LevelSetup(const Hierarchy<double>& hierarchy, std::size_t level,
                       const Options& options, bool symmetric, std::span<const mpi::Account> books)
    : hierarchy_(hierarchy),
      level_(level),
      options_(options),
      straight_(
          virtual_coarse_starts(hierarchy.virtual_starts(level), hierarchy.coarse_rows(level))),
      setup_A_(hierarchy.setup_matrix(level)) {
  const auto reductions = [&](const char* operation) {
    return collectives_of(books, operation, static_cast<std::int64_t>(level));
  };
  complete(options_);
  // An estimate agrees once, and its sums are dot products.
  radius_products_ =
      products_of_radii(symmetric, reductions("spectral_radius"), reductions("dot_products"));
  const SetupSteps steps =
      require(*options_.method->messages, "messages of method " + options_.method.name());
  if (steps == SetupSteps::aggregation) {
    aggregation_.emplace(hierarchy, level, options_);
    rounds_ = aggregation_->rounds(reductions("aggregation"));
    const bool scales = options_.method.options<AggregationOptions>().scale_prolongation_weight;
    if (aggregation_->filtered() == nullptr || !scales) return;
    const DistMatrix<double>* transposed = aggregation_->filtered_transposed();
    const bool of_level = reductions("spectral_radius") > (transposed != nullptr ? 2 : 1);
    const auto products = [&](const DistMatrix<double>& M) {
      return products_of_radius(M, symmetric, options_);
    };
    const int of_A = of_level ? products(*hierarchy.matrix(level)) : 0;
    transposed_radius_products_ = transposed != nullptr ? products(*transposed) : 0;
    filtered_radius_products_ =
        std::exchange(radius_products_, of_A) - of_A - transposed_radius_products_;
    return;
  }
  ClassicalOptions& classical = classical_options(options_);
  if (classical.strength_measure == StrengthMeasure::automatic) {
    classical.strength_measure =
        symmetric ? StrengthMeasure::opposite_sign : StrengthMeasure::absolute;
  }
  splitting_collectives_ = reductions("splitting");
  if (options_.unknowns > 1) {
    part_ = same_unknown_part(*setup_A_, unknowns_of_rows(hierarchy, level, options_.unknowns));
  }
  if (classical.is_aggressive(static_cast<int>(level))) {
    aggressive_.emplace(graph(), strength(), hierarchy.virtual_starts(level), options_);
  }
  rounds_ = aggressive_ ? aggressive_->rounds()
                        : messages_of(classical.coarsening).rounds(splitting_collectives_);
}

std::vector<comm::Plan> LevelSetup::plans_of_part(const VirtualPlans& of_A) const {
  if (!part_) return {};
  const auto rows = hierarchy_.virtual_starts(level_);
  return plans_of(part_->on(), rows, rows, of_A.topology, of_A.route);
}

std::vector<comm::Plan> LevelSetup::plans_of_rest(const VirtualPlans& of_A) const {
  const auto A = hierarchy_.matrix(level_);
  if (A->shares_entries_with(*setup_A_)) return {};
  const auto rows = hierarchy_.virtual_starts(level_);
  return plans_of(A->on(), rows, rows, of_A.topology, of_A.route);
}

Strength LevelSetup::strength() const {
  const ClassicalOptions& classical = classical_options(options_);
  return strength_of_connection(graph(), classical.strength_threshold, classical.max_row_sum,
                                classical.strength_measure);
}

MessageStages LevelSetup::splitting(const VirtualPlans& of_A) const {
  if (aggregation_) return aggregation_->aggregation(of_A, rounds_);
  VirtualExchanges before(of_A);
  if (part_) before.forward(sizeof(Unknowns::value_type));  // of ghosts, for the part
  MessageStages stages = before.take();
  const std::vector<comm::Plan> of_part = plans_of_part(of_A);
  const VirtualPlans planned = part_ ? VirtualPlans{of_part, of_A.topology} : of_A;
  if (aggressive_) {
    append(stages, aggressive_->splitting(planned));
    return stages;
  }
  VirtualExchanges exchanges(planned);
  messages_of(classical_options(options_).coarsening)
      .exchanges(splitting_collectives_, graph().on(), strength(), exchanges);
  append(stages, exchanges.take());
  return stages;
}

MessageStages LevelSetup::interpolation(const VirtualPlans& of_A) const {
  if (aggregation_) return aggregation_->interpolation(of_A);
  const std::vector<comm::Plan> of_part = plans_of_part(of_A);
  VirtualExchanges exchanges(part_ ? VirtualPlans{of_part, of_A.topology} : of_A);
  const auto formula = interpolation_of_level(options_, static_cast<int>(level_));
  const InterpolationExchanges& add =
      require(*formula->exchanges, "messages of interpolation " + formula.name());
  add(graph(), strength(), hierarchy_.coarse_rows(level_), hierarchy_.virtual_starts(level_),
      exchanges);
  return exchanges.take();
}

MessageStages LevelSetup::spectral_radius(const VirtualPlans& of_A) const {
  const auto products = [](const VirtualPlans& planned, int n, std::size_t values = 1) {
    VirtualExchanges exchanges(planned);
    for (int k = 0; k < n; ++k) exchanges.forward(values * sizeof(double));
    return exchanges.take();
  };
  MessageStages stages;
  if (const auto* blocks = hierarchy_.matrix(level_)->blocks()) {
    const Points points(blocks->on(), hierarchy_.virtual_starts(level_));
    const auto plans =
        plans_of(points.pattern, points.starts, points.starts, of_A.topology, of_A.route);
    stages = products({plans, of_A.topology}, radius_products_,
                      static_cast<std::size_t>(blocks->block()));
  } else {
    const std::vector<comm::Plan> of_rest = plans_of_rest(of_A);
    stages = products(of_rest.empty() ? of_A : VirtualPlans{of_rest, of_A.topology, of_A.route},
                      radius_products_);
  }
  const auto add_filtered = [&](const DistMatrix<double>* M, int n) {
    if (M == nullptr) return;
    const auto rows = hierarchy_.virtual_starts(level_);
    const auto plans = plans_of(M->on(), rows, rows, of_A.topology, of_A.route);
    append(stages, products({plans, of_A.topology}, n));
  };
  if (aggregation_) {
    add_filtered(aggregation_->filtered(), filtered_radius_products_);
    add_filtered(aggregation_->filtered_transposed(), transposed_radius_products_);
  }
  return stages;
}

MessageStages LevelSetup::row_scales(const VirtualPlans& of_A) const {
  const std::vector<comm::Plan> of_rest = plans_of_rest(of_A);
  VirtualExchanges exchanges(of_rest.empty() ? of_A
                                             : VirtualPlans{of_rest, of_A.topology, of_A.route});
  if (options_.smoother->is_l1()) exchanges.forward(sizeof(double));
  return exchanges.take();
}

bool LevelSetup::is_moved() const {
  return !std::ranges::equal(straight_, hierarchy_.virtual_starts(level_ + 1));
}

bool LevelSetup::is_made_twice() const {
  return is_moved() && options_.redistribution->decide != nullptr;
}

MessageStages LevelSetup::interpolation_rows(const VirtualPlans& of_A) const {
  VirtualExchanges exchanges(of_A);
  const Starts fine = hierarchy_.virtual_starts(level_);
  if (is_made_twice()) exchanges.rows(P(), fine, straight_);
  exchanges.rows(P(), fine, hierarchy_.virtual_starts(level_ + 1));
  return exchanges.take();
}

MessageStages LevelSetup::returned_rows(const VirtualPlans& of_P_or_R, Starts coarse) const {
  VirtualExchanges exchanges(of_P_or_R);
  const Starts fine = hierarchy_.virtual_starts(level_);
  if (hierarchy_.restriction(level_) != nullptr) {
    exchanges.rows(product(A(), P()), fine, coarse);
  } else {
    exchanges.returned_rows(PartialRows(A(), P()).of_ranks(fine, coarse));
  }
  return exchanges.take();
}

MessageStages LevelSetup::product_rows(const VirtualPlans& of_P_or_R) const {
  MessageStages stages;
  if (is_made_twice()) {
    const auto& [plans, topology, route] = of_P_or_R;
    const Starts fine = hierarchy_.virtual_starts(level_);
    const DistMatrix<double>* R = hierarchy_.restriction(level_);
    const auto before = R ? plans_of(R->on(), straight_, fine, topology, route)
                          : plans_of(P(), fine, straight_, topology, route);
    append(stages, returned_rows({before, topology, route}, straight_));
  }
  append(stages, returned_rows(of_P_or_R, hierarchy_.virtual_starts(level_ + 1)));
  return stages;
}

/// Of the coarse matrix, and of A P that it is made from by a restriction.
void LevelSetup::add_coarse_requests(Starts coarse, MessageStages& stages) const {
  if (hierarchy_.restriction(level_) != nullptr) {
    add_requests(product(A(), P()), hierarchy_.virtual_starts(level_), coarse, stages);
  }
  add_requests(hierarchy_.galerkin_matrix(level_ + 1)->on(), coarse, coarse, stages);
}

bool LevelSetup::is_copied() const {
  return is_copied_below(hierarchy_, level_);
}

MessageStages LevelSetup::requests(const comm::Route& of_A, const mpi::Topology& topology) const {
  const Starts fine = hierarchy_.virtual_starts(level_);
  const Starts coarse = hierarchy_.virtual_starts(level_ + 1);
  const DistMatrix<double>* R = hierarchy_.restriction(level_);
  MessageStages stages;
  if (const auto* blocks = hierarchy_.matrix(level_)->blocks();
      blocks != nullptr && !of_A->goes_straight) {
    const Points points(blocks->on(), fine);
    add_requests(points.pattern, points.starts, points.starts, stages);
  }
  if (aggregation_) {
    append(stages, aggregation_->requests());
  } else {
    if (part_) add_requests(part_->on(), fine, fine, stages);
    if (aggressive_) append(stages, aggressive_->requests());
    add_requests(P(), fine, straight_, stages);
  }
  if (R) add_requests(R->on(), straight_, fine, stages);
  if (is_made_twice()) add_coarse_requests(straight_, stages);
  if (is_moved()) {
    add_requests(P(), fine, coarse, stages);
    if (R) add_requests(R->on(), coarse, fine, stages);
  }
  add_coarse_requests(coarse, stages);
  if (is_copied()) VirtualCopies(hierarchy_, level_, topology).add_requests(stages);
  return stages;
}

/// The bytes a row of what is known of the next level besides its matrix.
std::vector<std::size_t> LevelSetup::knowledge_bytes() const {
  if (aggregation_) {
    const auto of_a_row = static_cast<std::size_t>(aggregation_->n_vectors()) * sizeof(double);
    return std::vector<std::size_t>(hierarchy_.restriction(level_) ? 2 : 1, of_a_row);
  }
  if (options_.unknowns > 1) return {sizeof(Unknowns::value_type)};
  return {};
}

MessageStages LevelSetup::redistribution(const mpi::Topology& topology) const {
  MessageStages stages;
  std::vector<std::size_t> bytes = knowledge_bytes();
  if (is_moved()) {
    const auto plans = plans_of_move(straight_, hierarchy_.virtual_starts(level_ + 1), topology);
    VirtualExchanges exchanges({plans, topology});
    for (const std::size_t of_a_row : bytes) exchanges.forward(of_a_row);
    const DistMatrix<double>* R = hierarchy_.restriction(level_);
    if (R) exchanges.rows(R->on(), straight_, hierarchy_.virtual_starts(level_));
    stages = exchanges.take();
  }
  if (is_copied()) {
    // What the entries of a matrix that is solved directly are sums of.
    const GlobalIndex rows = hierarchy_.levels()[level_ + 1].rows;
    if (may_solve_directly(rows, options_)) bytes.push_back(sizeof(double));
    append(stages, VirtualCopies(hierarchy_, level_, topology).rows(bytes));
  }
  return stages;
}

}  // namespace nodewise::amg
