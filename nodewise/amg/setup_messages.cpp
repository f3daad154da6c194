#include "nodewise/amg/setup_messages.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "nodewise/amg/interpolate/neighbourhood.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/kernels/spgemm.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"
#include "nodewise/model/message_recorder.hpp"

namespace nodewise::amg {

namespace {

using interpolate::Signs;
using kernels::Csr;
using model::MessageStages;
using Starts = std::span<const GlobalIndex>;
using Link = interpolate::Neighbourhood<double>::Link;

constexpr auto bytes_of(std::size_t size) {
  return static_cast<std::int64_t>(size);
}
constexpr auto row_entry_bytes = bytes_of(sizeof(matrix::RowEntry<double>));

/// Writes exchanges down, one after the other.
class Exchanges {
 public:
  explicit Exchanges(const VirtualPlans& virtual_plans)
      : plans_(virtual_plans.plans),
        topology_(virtual_plans.topology),
        recorder_(static_cast<int>(plans_.size())) {}

  void forward(std::size_t bytes) {
    comm::visit_messages(plans_, topology_, recorder_.visitor(bytes_of(bytes)));
  }
  void reversed(std::size_t bytes) {
    comm::visit_reversed_messages(plans_, topology_, recorder_.visitor(bytes_of(bytes)));
  }
  /// Their lengths first, all the way.
  void records(std::span<const Offset> offsets, std::size_t item_bytes) {
    forward(sizeof(Offset));
    comm::visit_record_messages(plans_, topology_, offsets,
                                recorder_.visitor(bytes_of(item_bytes)));
  }
  MessageStages take() { return recorder_.take(); }

 private:
  std::span<const comm::Plan> plans_;
  const mpi::Topology& topology_;
  model::MessageRecorder recorder_;
};

/// The reductions of a splitting that finds nothing to do.
constexpr std::int64_t idle_collectives = 2;

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
void pmis_exchanges(int rounds, Exchanges& exchanges) {
  exchanges.reversed(sizeof(double));  // how many depend on a point
  exchanges.forward(sizeof(double));   // weights
  for (int k = 0; k < rounds; ++k) {
    exchanges.reversed(sizeof(std::int32_t));  // who is outweighed
    exchanges.forward(sizeof(std::int8_t));    // coarse points
    exchanges.forward(sizeof(std::int8_t));    // fine points
  }
}

/// As Cljp::run() in coarsen/cljp.cpp.
void cljp_exchanges(int rounds, std::span<const Offset> strong, Exchanges& exchanges) {
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

/// The columns of the rows of P^T A P that virtual ranks make for others, one ghost of P after the
/// other: those of A P where the ghost's column of P has entries on the rank.
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

/// Every stage's lengths, then its items.
MessageStages interleaved(MessageStages lengths, MessageStages items, std::size_t n_ranks) {
  MessageStages stages;
  items.resize(lengths.size());
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    items[s].resize(n_ranks);
    stages.push_back(std::move(lengths[s]));
    stages.push_back(std::move(items[s]));
  }
  return stages;
}

Csr<double> product(const Csr<double>& A, const Csr<double>& P) {
  return kernels::spgemm<double>({.on = &A, .n_cols = A.n_cols}, A.n_rows,
                                 {.on = &P, .n_cols = P.n_cols});
}

/// One message of every rank to the owner of ghosts, as the stage after those in `stages`.
void add_requests(const Csr<double>& M, Starts rows, Starts cols, MessageStages& stages) {
  const comm::Records<GlobalIndex> ghosts = matrix::virtual_ghosts(M, rows, cols);
  const std::vector<comm::Pattern> patterns = comm::virtual_patterns(cols, ghosts);
  auto& stage = stages.emplace_back(patterns.size());
  for (std::size_t r = 0; r < patterns.size(); ++r) {
    const comm::Pattern& pattern = patterns[r];
    for (std::size_t i = 0; i < pattern.recv_ranks.size(); ++i) {
      const std::int64_t n = pattern.recv_offsets[i + 1] - pattern.recv_offsets[i];
      stage[r].push_back({pattern.recv_ranks[i], n * bytes_of(sizeof(GlobalIndex))});
    }
  }
}

}  // namespace

LevelSetup::LevelSetup(const Hierarchy<double>& hierarchy, std::size_t level,
                       const Options& options, bool symmetric, std::int64_t splitting_collectives)
    : hierarchy_(hierarchy),
      level_(level),
      options_(options),
      splitting_collectives_(splitting_collectives) {
  complete(options_);
  if (options_.strength_measure == StrengthMeasure::automatic) {
    options_.strength_measure =
        symmetric ? StrengthMeasure::opposite_sign : StrengthMeasure::absolute;
  }
  is_plain_ = options_.method != Method::aggregation && options_.unknowns == 1 &&
              static_cast<int>(level) >= options_.aggressive_levels;
  if (is_plain_) rounds_ = rounds_of(options_.coarsening, splitting_collectives);
}

Strength LevelSetup::strength() const {
  return strength_of_connection(*hierarchy_.matrix(level_), options_.strength_threshold,
                                options_.max_row_sum, options_.strength_measure);
}

std::optional<MessageStages> LevelSetup::splitting(const VirtualPlans& of_A) const {
  if (!rounds_) return std::nullopt;
  const bool is_idle = splitting_collectives_ <= idle_collectives;
  Exchanges exchanges(of_A);
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
      if (!is_idle) cljp_exchanges(*rounds_, strong_offsets(A(), strength()), exchanges);
      break;
  }
  return exchanges.take();
}

std::optional<MessageStages> LevelSetup::interpolation(const VirtualPlans& of_A) const {
  const bool by_air =
      options_.interpolation == Interpolation::automatic && options_.method == Method::air;
  const Interpolation formula = by_air ? Interpolation::one_point : options_.interpolation;
  const bool looks_at_rows =
      formula == Interpolation::direct || formula == Interpolation::one_point;
  const std::optional<Signs> signs = signs_of_links(formula);
  if (!is_plain_ || (!looks_at_rows && !signs)) return std::nullopt;
  Exchanges exchanges(of_A);
  exchanges.forward(sizeof(GlobalIndex));
  if (signs) {
    exchanges.records(link_offsets(A(), strength(), hierarchy_.coarse_rows(level_),
                                   hierarchy_.virtual_starts(level_), *signs),
                      sizeof(Link));
  }
  return exchanges.take();
}

MessageStages LevelSetup::interpolation_rows(const VirtualPlans& of_A) const {
  Exchanges exchanges(of_A);
  const auto& offsets = P().row_ptr;
  exchanges.records({offsets.data(), offsets.size()}, row_entry_bytes);
  return exchanges.take();
}

MessageStages LevelSetup::product_rows(const VirtualPlans& of_P_or_R) const {
  Exchanges exchanges(of_P_or_R);
  if (hierarchy_.restriction(level_) != nullptr) {
    const Csr<double> AP = product(A(), P());
    exchanges.records({AP.row_ptr.data(), AP.row_ptr.size()}, row_entry_bytes);
    return exchanges.take();
  }
  const std::size_t n_ranks = of_P_or_R.plans.size();
  exchanges.reversed(sizeof(Offset));
  model::MessageRecorder items(static_cast<int>(n_ranks));
  comm::visit_returned_record_messages(
      of_P_or_R.plans, of_P_or_R.topology,
      PartialRows(A(), P()).of_ranks(hierarchy_.virtual_starts(level_),
                                     hierarchy_.virtual_starts(level_ + 1)),
      items.visitor(row_entry_bytes));
  return interleaved(exchanges.take(), items.take(), n_ranks);
}

MessageStages LevelSetup::requests() const {
  const Starts fine = hierarchy_.virtual_starts(level_);
  const Starts coarse = hierarchy_.virtual_starts(level_ + 1);
  MessageStages stages;
  add_requests(P(), fine, coarse, stages);
  if (const auto* R = hierarchy_.restriction(level_)) {
    add_requests(R->on(), coarse, fine, stages);
    add_requests(product(A(), P()), fine, coarse, stages);
  }
  add_requests(hierarchy_.matrix(level_ + 1)->on(), coarse, coarse, stages);
  return stages;
}

}  // namespace nodewise::amg
