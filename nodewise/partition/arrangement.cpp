#include "nodewise/partition/arrangement.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "nodewise/comm/points.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/partition/part_order.hpp"
#include "nodewise/partition/point_graph.hpp"

namespace nodewise::partition {

namespace {

using Matrix = Arrangement::Matrix;

/// Local. The largest distance of two coupled points, where point k has the place place_of[k].
GlobalIndex bandwidth(const PointGraph& graph, std::span<const LocalIndex> place_of) {
  LocalIndex farthest = 0;
  for (std::size_t k = 0; k < place_of.size(); ++k) {
    for (auto e = graph.begins[k]; e < graph.begins[k + 1]; ++e) {
      const auto other = static_cast<std::size_t>(graph.neighbours[static_cast<std::size_t>(e)]);
      farthest = std::max(farthest, std::abs(place_of[k] - place_of[other]));
    }
  }
  return farthest;
}

/// Puts points in order, and sees what that gains.
class Orderer {
 public:
  explicit Orderer(const Reordering& reorder) : reorder_(reorder) {}

  /// Local. The place of each point of a graph.
  std::vector<LocalIndex> places(const PointGraph& graph) {
    std::vector<LocalIndex> place_of(static_cast<std::size_t>(graph.n_points()));
    std::iota(place_of.begin(), place_of.end(), 0);
    gain_.bandwidth_before = std::max(gain_.bandwidth_before, bandwidth(graph, place_of));
    const std::vector<LocalIndex> order = (*reorder_->order)(graph);
    for (std::size_t k = 0; k < order.size(); ++k) {
      place_of[static_cast<std::size_t>(order[k])] = static_cast<LocalIndex>(k);
    }
    gain_.bandwidth_after = std::max(gain_.bandwidth_after, bandwidth(graph, place_of));
    return place_of;
  }

  /// Collective.
  ReorderingGain gain(const mpi::Comm& comm) const {
    return {mpi::max(comm, gain_.bandwidth_before), mpi::max(comm, gain_.bandwidth_after)};
  }

 private:
  const Reordering& reorder_;
  ReorderingGain gain_;
};

/// Appends the numbers of the rows of points that have these places behind `begin`.
void append_numbers(GlobalIndex begin, std::span<const LocalIndex> places, int unknowns,
                    std::vector<GlobalIndex>& numbers) {
  for (const LocalIndex place : places) {
    for (int u = 0; u < unknowns; ++u) {
      numbers.push_back(begin + static_cast<GlobalIndex>(place) * unknowns + u);
    }
  }
}

/// Local; the same on every rank.
void require_room_on_one_rank(const comm::Layout& rows) {
  constexpr GlobalIndex most = std::numeric_limits<LocalIndex>::max();
  if (rows.n_global() <= most) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("reorder: all rows together are put in order on one rank, which can have "
                          "{}, and there are {}; take `reorder rcm`",
                          most, rows.n_global()));
}

/// Collective. All rows in order, in uniform ranges: found by rank 0, which they are brought to.
comm::RowMove order_all(const PartitionTask& task, Orderer& orderer) {
  const comm::Layout& rows = task.A.rows();
  require_room_on_one_rank(rows);
  const std::vector<int> workers = mpi::collectively(
      rows.comm(), [&] { return std::vector<int>(static_cast<std::size_t>(rows.n_local()), 0); });
  const comm::RowMove to_worker = comm::RowMove::to_owners(rows, workers);
  const Matrix A = matrix::redistribute(task.A, to_worker);
  std::vector<GlobalIndex> of_all, mine;
  mpi::collectively(rows.comm(), [&] {
    mine.resize(static_cast<std::size_t>(rows.n_local()));
    append_numbers(rows.first(), orderer.places(point_graph(A.on(), task.unknowns)), task.unknowns,
                   of_all);
  });
  to_worker.backward<GlobalIndex>(of_all, mine);
  std::vector<GlobalIndex> starts =
      comm::uniform_point_starts(rows.n_global(), rows.comm().size(), task.unknowns);
  for (GlobalIndex& start : starts) start += rows.first();
  const comm::Layout to(rows.shared_comm(), std::move(starts));
  return comm::RowMove::to_numbers(rows, to, mine);
}

/// Collective. The rows of each rank in order, or of each virtual one, which begin at `starts`.
comm::RowMove order_each(const Matrix& A, int unknowns, std::span<const GlobalIndex> starts,
                         Orderer& orderer) {
  const comm::Layout& rows = A.rows();
  const std::vector<GlobalIndex> numbers = mpi::collectively(rows.comm(), [&] {
    std::vector<GlobalIndex> result;
    const PointGraph graph = point_graph(A.on(), unknowns);
    if (starts.empty()) {
      append_numbers(rows.begin(), orderer.places(graph), unknowns, result);
    }
    for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
      std::vector<LocalIndex> points(
          static_cast<std::size_t>((starts[r + 1] - starts[r]) / unknowns));
      std::iota(points.begin(), points.end(), static_cast<LocalIndex>(starts[r] / unknowns));
      append_numbers(rows.begin() + starts[r], orderer.places(part_of(graph, points)), unknowns,
                     result);
    }
    return result;
  });
  return comm::RowMove::to_numbers(rows, rows, numbers);
}

/// Collective. The rows to the ranks that a division says; on one rank, one virtual rank's after
/// the other's, which then begin at `starts`.
comm::RowMove move_of(const Division& division, const comm::Layout& rows, int n_virtual_ranks,
                      std::vector<GlobalIndex>& starts) {
  if (starts.empty()) return comm::RowMove::to_owners(rows, division.owners);
  PartOrder order = order_of_parts(division.owners, n_virtual_ranks);
  std::vector<GlobalIndex> numbers(order.rows.size());
  for (std::size_t k = 0; k < order.rows.size(); ++k) {
    numbers[static_cast<std::size_t>(order.rows[k])] = rows.begin() + static_cast<GlobalIndex>(k);
  }
  starts = std::move(order.starts);
  return comm::RowMove::to_numbers(rows, rows, numbers);
}

/// A matrix on its way.
class Moving {
 public:
  explicit Moving(const Matrix& A) : A_(&A) {}
  const Matrix& A() const { return *A_; }
  /// Collective.
  void move(const comm::RowMove& step) {
    moved_ = matrix::redistribute(*A_, step);
    A_ = &*moved_;
  }

 private:
  const Matrix* A_;
  std::optional<Matrix> moved_;
};

/// Local; the same on every rank.
void require_points(const PartitionTask& task) {
  if (!(task.A.rows() == task.A.cols())) {
    throw Error(ErrorCode::dimension_mismatch,
                "reorder: the matrix is not square, or its rows and columns are laid out "
                "differently");
  }
  comm::require_whole_points(task.A.rows(), task.unknowns);
}

}  // namespace

Arrangement::Arrangement(const ArrangementOptions& options, const PartitionTask& task) {
  const Reordering& reorder = options.reorder;
  if (reorder->renumbers) require_points(task);
  const bool orders_all = reorder->renumbers && reorder->of_all_ranks;
  const bool orders_each = reorder->renumbers && !reorder->of_all_ranks;
  Orderer orderer(reorder);
  Moving moving(task.A);
  if (orders_all) {
    moves_.push_back(order_all(task, orderer));
    if (!options.division.is_plain()) moving.move(moves_.back());
  }
  const Division division = divide(options.division, {moving.A(), task.topology, task.unknowns});
  decision_ = division.decision;
  placement_ = division.placement;
  if (options.division.is_virtual) {
    virtual_starts_ = comm::uniform_point_starts(task.A.rows().n_global(), task.topology.n_ranks(),
                                                 task.unknowns);
  }
  if (division.moves_rows) {
    moves_.push_back(
        move_of(division, moving.A().rows(), task.topology.n_ranks(), virtual_starts_));
    if (orders_each) moving.move(moves_.back());
  }
  if (orders_each) {
    moves_.push_back(order_each(moving.A(), task.unknowns, virtual_starts_, orderer));
  }
  if (reorder->renumbers) reordering_ = orderer.gain(task.A.comm());
}

Matrix Arrangement::there(const Matrix& A) const {
  Matrix moved = matrix::redistribute(A, moves_.front());
  for (std::size_t k = 1; k < moves_.size(); ++k) moved = matrix::redistribute(moved, moves_[k]);
  return moved;
}

namespace {

/// Collective.
template <class T>
std::vector<T> room_for(const comm::Layout& rows, int width) {
  return mpi::collectively(rows.comm(), [&] {
    return std::vector<T>(static_cast<std::size_t>(rows.n_local()) *
                          static_cast<std::size_t>(width));
  });
}

}  // namespace

template <class T>
std::vector<T> Arrangement::there(std::span<const T> x, int width) const {
  std::vector<T> held;
  for (const comm::RowMove& step : moves_) {
    std::vector<T> moved = room_for<T>(step.to(), width);
    step.forward<T>(x, moved, width);
    held = std::move(moved);
    x = held;
  }
  return held;
}

template <class T>
void Arrangement::back(std::span<const T> y, std::span<T> x, int width) const {
  std::vector<T> held;
  for (std::size_t k = moves_.size(); k-- > 1;) {
    std::vector<T> moved = room_for<T>(moves_[k].from(), width);
    moves_[k].backward<T>(y, moved, width);
    held = std::move(moved);
    y = held;
  }
  moves_.front().backward<T>(y, x, width);
}

template std::vector<double> Arrangement::there(std::span<const double>, int) const;
template std::vector<GlobalIndex> Arrangement::there(std::span<const GlobalIndex>, int) const;
template void Arrangement::back(std::span<const double>, std::span<double>, int) const;
template void Arrangement::back(std::span<const GlobalIndex>, std::span<GlobalIndex>, int) const;

}  // namespace nodewise::partition
