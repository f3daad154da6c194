#include "nodewise/amg/setup_messages.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "nodewise/amg/interpolate/neighbourhood.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/amg/unknowns.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"
#include "nodewise/kernels/spgemm.hpp"

namespace nodewise::amg {

namespace {

using interpolate::Signs;
using kernels::Csr;
using model::MessageStages;
using Starts = std::span<const GlobalIndex>;
using Link = interpolate::Neighbourhood<double>::Link;

/// The reductions of a splitting that finds nothing to do.
constexpr std::int64_t idle_collectives = 2;

/// How many reductions the ledger has under an operation of a level.
std::int64_t collectives_of(std::span<const mpi::Account> books, const char* operation,
                            std::int64_t level) {
  for (const mpi::Account& account : books) {
    if (account.operation == operation && account.level == level) {
      return account.counts.collectives;
    }
  }
  return 0;
}

/// As independent_set_aggregates(): two agreements, the numbers of roots and an agreement besides
/// the sums, one for each round and one that finds no active point.
int aggregation_rounds(std::int64_t collectives) {
  return static_cast<int>(std::max<std::int64_t>(0, collectives - 5));
}

/// The products of estimates of spectral radii, which end early where nothing is left: lanczos()
/// reduces once for each and once before, arnoldi() twice and once.
int products_of_radii(bool symmetric, std::int64_t estimates, std::int64_t reductions) {
  return static_cast<int>(std::max<std::int64_t>(0, reductions - estimates) / (symmetric ? 1 : 2));
}

/// Those of an estimate that is made for this.
int products_of_radius(const matrix::DistMatrix<double>& A, bool symmetric, int seed) {
  const auto reductions = [&] {
    return collectives_of(A.comm().ledger().accounts(), "dot_products", mpi::no_level);
  };
  const std::int64_t before = reductions();
  {
    const mpi::Scope scope(A.comm(), "spectral_radius", mpi::no_level);
    SpectrumOptions spectrum;
    spectrum.symmetric = symmetric;
    spectrum.seed = seed;
    spectral_radius(A, spectrum);
  }
  return products_of_radii(symmetric, 1, reductions() - before);
}

/// What reductions tell of a splitting: one agrees on the beginning, one asks for points that are
/// left, and so does each round before it begins and the last one after it; CLJP agrees on ghost
/// rows twice besides.
std::optional<int> rounds_of(Coarsening coarsening, std::int64_t collectives) {
  switch (coarsening) {
    case Coarsening::ruge_stueben:
    case Coarsening::ruge_stueben_first_pass:
      return 0;
    case Coarsening::pmis:
    case Coarsening::hmis:
      return static_cast<int>(std::max<std::int64_t>(0, collectives - 3));
    case Coarsening::cljp:
    case Coarsening::falgout:
      return static_cast<int>(std::max<std::int64_t>(0, collectives - 5));
  }
  return std::nullopt;
}

/// Where the strong entries of every row begin, were they one after another.
std::vector<Offset> strong_offsets(const Csr<double>& A, const Strength& strength) {
  std::vector<Offset> offsets = {0};
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    Offset n = 0;
    for (Offset k = A.begin(i); k < A.end(i); ++k) n += strength.on[static_cast<std::size_t>(k)];
    offsets.push_back(offsets.back() + n);
  }
  return offsets;
}

/// As Pmis::run() in coarsen/pmis.cpp.
void pmis_exchanges(int rounds, VirtualExchanges& exchanges) {
  exchanges.reversed(sizeof(double));  // how many depend on a point
  exchanges.forward(sizeof(double));   // weights
  for (int k = 0; k < rounds; ++k) {
    exchanges.reversed(sizeof(std::int32_t));  // who is outweighed
    exchanges.forward(sizeof(std::int8_t));    // coarse points
    exchanges.forward(sizeof(std::int8_t));    // fine points
  }
}

/// As Cljp::run() in coarsen/cljp.cpp.
void cljp_exchanges(int rounds, std::span<const Offset> strong, VirtualExchanges& exchanges) {
  exchanges.records(strong, sizeof(GlobalIndex));
  exchanges.reversed(sizeof(double));
  exchanges.forward(sizeof(std::int8_t));
  exchanges.reversed(sizeof(std::int32_t));  // edges taken
  for (int k = 0; k < rounds; ++k) {
    exchanges.forward(sizeof(double));
    exchanges.reversed(sizeof(std::int32_t));  // who is outweighed
    exchanges.forward(sizeof(std::int8_t));
    exchanges.reversed(sizeof(std::int32_t));
  }
}

/// The entries that a formula goes through; nothing where it brings no links, or other rows.
std::optional<Signs> signs_of_links(Interpolation formula) {
  switch (formula) {
    case Interpolation::automatic:
    case Interpolation::extended_i:
    case Interpolation::extended:
    case Interpolation::modified_classical:
      return Signs::opposite;
    case Interpolation::standard:
    case Interpolation::classical:
      return Signs::all;
    case Interpolation::direct:
    case Interpolation::one_point:
    case Interpolation::multipass:
      break;
  }
  return std::nullopt;
}

double diagonal_entry(const Csr<double>& A, LocalIndex i) {
  for (auto k = static_cast<std::size_t>(A.begin(i)); k < static_cast<std::size_t>(A.end(i)); ++k) {
    if (A.cols[k] == i) return A.vals[k];
  }
  return 0;
}

/// Where the links of every point begin, which Neighbourhood::append_links() sends: strong entries
/// of a fine point at coarse points, those that count, and entries at fine points of other ranks.
std::vector<Offset> link_offsets(const Csr<double>& A, const Strength& strength,
                                 std::span<const LocalIndex> coarse_rows, Starts ranks,
                                 Signs signs) {
  std::vector<std::uint8_t> is_coarse(static_cast<std::size_t>(A.n_rows), 0);
  for (const LocalIndex i : coarse_rows) is_coarse[static_cast<std::size_t>(i)] = 1;
  std::vector<Offset> offsets = {0};
  for (std::size_t r = 0; r + 1 < ranks.size(); ++r) {
    for (auto i = static_cast<LocalIndex>(ranks[r]); i < ranks[r + 1]; ++i) {
      Offset n = 0;
      const bool negative = diagonal_entry(A, i) < 0;
      const bool is_fine = is_coarse[static_cast<std::size_t>(i)] == 0;
      for (Offset k = A.begin(i); is_fine && k < A.end(i); ++k) {
        const auto p = static_cast<std::size_t>(k);
        const LocalIndex j = A.cols[p];
        const bool counts = A.vals[p] != 0 && (signs == Signs::all || negative != (A.vals[p] < 0));
        const bool elsewhere = j < ranks[r] || j >= ranks[r + 1];
        const bool goes = is_coarse[static_cast<std::size_t>(j)] != 0
                              ? counts || strength.on[p] != 0
                              : counts && elsewhere;
        n += goes ? 1 : 0;
      }
      offsets.push_back(offsets.back() + n);
    }
  }
  return offsets;
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

Csr<double> product(const Csr<double>& A, const Csr<double>& P) {
  return kernels::spgemm<double>({.on = &A, .n_cols = A.n_cols}, A.n_rows,
                                 {.on = &P, .n_cols = P.n_cols});
}

}  // namespace

LevelSetup::LevelSetup(const Hierarchy<double>& hierarchy, std::size_t level,
                       const Options& options, bool symmetric, std::span<const mpi::Account> books)
    : hierarchy_(hierarchy), level_(level), options_(options) {
  const auto reductions = [&](const char* operation) {
    return collectives_of(books, operation, static_cast<std::int64_t>(level));
  };
  complete(options_);
  if (options_.strength_measure == StrengthMeasure::automatic) {
    options_.strength_measure =
        symmetric ? StrengthMeasure::opposite_sign : StrengthMeasure::absolute;
  }
  // An estimate agrees once, and its sums are dot products.
  radius_products_ =
      products_of_radii(symmetric, reductions("spectral_radius"), reductions("dot_products"));
  if (options_.method == Method::aggregation) {
    aggregation_.emplace(hierarchy, level, options_);
    rounds_ = aggregation_rounds(reductions("aggregation"));
    if (aggregation_->filtered() == nullptr) return;
    const int of_A = products_of_radius(*hierarchy.matrix(level), symmetric, options_.seed);
    filtered_radius_products_ = std::exchange(radius_products_, of_A) - of_A;
    return;
  }
  in_one_stage_ = static_cast<int>(level) >= options_.aggressive_levels;
  splitting_collectives_ = reductions("splitting");
  if (in_one_stage_) rounds_ = rounds_of(options_.coarsening, splitting_collectives_);
  if (options_.unknowns > 1) {
    part_ = same_unknown_part(*hierarchy.matrix(level),
                              unknowns_of_rows(hierarchy, level, options_.unknowns));
  }
}

std::vector<comm::Plan> LevelSetup::plans_of_part(const VirtualPlans& of_A) const {
  if (!part_) return {};
  const auto rows = hierarchy_.virtual_starts(level_);
  return plans_of(part_->on(), rows, rows, of_A.topology, of_A.route);
}

Strength LevelSetup::strength() const {
  return strength_of_connection(graph(), options_.strength_threshold, options_.max_row_sum,
                                options_.strength_measure);
}

std::optional<MessageStages> LevelSetup::splitting(const VirtualPlans& of_A) const {
  if (!rounds_) return std::nullopt;
  if (aggregation_) return aggregation_->aggregation(of_A, *rounds_);
  const bool is_idle = splitting_collectives_ <= idle_collectives;
  VirtualExchanges before(of_A);
  if (part_) before.forward(sizeof(Unknowns::value_type));  // of ghosts, for the part
  MessageStages stages = before.take();
  const std::vector<comm::Plan> of_part = plans_of_part(of_A);
  VirtualExchanges exchanges(part_ ? VirtualPlans{of_part, of_A.topology} : of_A);
  switch (options_.coarsening) {
    case Coarsening::ruge_stueben:
    case Coarsening::ruge_stueben_first_pass:
      break;
    case Coarsening::pmis:
    case Coarsening::hmis:
      exchanges.forward(sizeof(std::int8_t));
      if (!is_idle) pmis_exchanges(*rounds_, exchanges);
      break;
    case Coarsening::cljp:
    case Coarsening::falgout:
      if (!is_idle) cljp_exchanges(*rounds_, strong_offsets(graph().on(), strength()), exchanges);
      break;
  }
  append(stages, exchanges.take());
  return stages;
}

std::optional<MessageStages> LevelSetup::interpolation(const VirtualPlans& of_A) const {
  if (aggregation_) return aggregation_->interpolation(of_A);
  const bool by_air =
      options_.interpolation == Interpolation::automatic && options_.method == Method::air;
  const Interpolation formula = by_air ? Interpolation::one_point : options_.interpolation;
  const bool looks_at_rows =
      formula == Interpolation::direct || formula == Interpolation::one_point;
  const std::optional<Signs> signs = signs_of_links(formula);
  if (!in_one_stage_ || (!looks_at_rows && !signs)) return std::nullopt;
  const std::vector<comm::Plan> of_part = plans_of_part(of_A);
  VirtualExchanges exchanges(part_ ? VirtualPlans{of_part, of_A.topology} : of_A);
  exchanges.forward(sizeof(GlobalIndex));
  if (signs) {
    exchanges.records(link_offsets(graph().on(), strength(), hierarchy_.coarse_rows(level_),
                                   hierarchy_.virtual_starts(level_), *signs),
                      sizeof(Link));
  }
  return exchanges.take();
}

MessageStages LevelSetup::spectral_radius(const VirtualPlans& of_A) const {
  const auto products = [](const VirtualPlans& planned, int n) {
    VirtualExchanges exchanges(planned);
    for (int k = 0; k < n; ++k) exchanges.forward(sizeof(double));
    return exchanges.take();
  };
  MessageStages stages = products(of_A, radius_products_);
  if (aggregation_ && aggregation_->filtered() != nullptr) {
    const auto rows = hierarchy_.virtual_starts(level_);
    const auto plans = plans_of(*aggregation_->filtered(), rows, rows, of_A.topology);
    append(stages, products({plans, of_A.topology}, filtered_radius_products_));
  }
  return stages;
}

MessageStages LevelSetup::interpolation_rows(const VirtualPlans& of_A) const {
  VirtualExchanges exchanges(of_A);
  exchanges.rows(P(), hierarchy_.virtual_starts(level_), hierarchy_.virtual_starts(level_ + 1));
  return exchanges.take();
}

MessageStages LevelSetup::product_rows(const VirtualPlans& of_P_or_R) const {
  VirtualExchanges exchanges(of_P_or_R);
  if (hierarchy_.restriction(level_) != nullptr) {
    exchanges.rows(product(A(), P()), hierarchy_.virtual_starts(level_),
                   hierarchy_.virtual_starts(level_ + 1));
  } else {
    exchanges.returned_rows(PartialRows(A(), P()).of_ranks(hierarchy_.virtual_starts(level_),
                                                           hierarchy_.virtual_starts(level_ + 1)));
  }
  return exchanges.take();
}

MessageStages LevelSetup::requests() const {
  const Starts fine = hierarchy_.virtual_starts(level_);
  const Starts coarse = hierarchy_.virtual_starts(level_ + 1);
  MessageStages stages;
  if (aggregation_) {
    stages = aggregation_->requests();
  } else {
    if (part_) add_requests(part_->on(), fine, fine, stages);
    add_requests(P(), fine, coarse, stages);
  }
  if (const auto* R = hierarchy_.restriction(level_)) {
    add_requests(R->on(), coarse, fine, stages);
    add_requests(product(A(), P()), fine, coarse, stages);
  }
  add_requests(hierarchy_.matrix(level_ + 1)->on(), coarse, coarse, stages);
  return stages;
}

}  // namespace nodewise::amg
