#include "nodewise/routing/overlap_choice.hpp"

#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/routing/decision_rule.hpp"
#include "nodewise/routing/trial_times.hpp"

namespace nodewise::routing {

namespace {

using comm::Overlap;

constexpr int products_to_see_waits = 2;

/// Products with a matrix whose exchange can be told what to overlap.
template <class T>
class TriedProduct {
 public:
  /// Collective.
  explicit TriedProduct(const matrix::DistMatrix<T>& A)
      : A_(&A),
        exchange_(A.blocks() != nullptr ? &A.blocks()->exchange() : &A.exchange()),
        before_(exchange_->overlap()) {
    mpi::collectively(A.comm(), [&] {
      x_.resize(static_cast<std::size_t>(A.cols().n_local()));
      y_.resize(static_cast<std::size_t>(A.n_local()));
    });
  }
  ~TriedProduct() {
    exchange_->observe(nullptr);
    exchange_->set_overlap(before_);
  }
  TriedProduct(const TriedProduct&) = delete;
  TriedProduct& operator=(const TriedProduct&) = delete;

  void observe(comm::OverlapTimes* times) { exchange_->observe(times); }
  /// Collective. Seconds on this rank.
  double run(Overlap overlap) {
    exchange_->set_overlap(overlap);
    const Timer timer;
    matrix::multiply(*A_, std::span<const T>(x_), std::span<T>(y_));
    return timer.seconds();
  }

 private:
  const matrix::DistMatrix<T>* A_;
  comm::Exchange* exchange_;
  Overlap before_;
  std::vector<T> x_, y_;
};

/// Collective. The part of a naive product that the rank with the longest waits for messages: what
/// another mode can save at most.
template <class T>
double part_waited(const mpi::Comm& comm, TriedProduct<T>& product) {
  product.run(Overlap::naive);  // makes what is made once
  comm::OverlapTimes times;
  product.observe(&times);
  std::array<double, 2> longest = {};  // all, and waiting
  for (int k = 0; k < products_to_see_waits; ++k) longest[0] += product.run(Overlap::naive);
  product.observe(nullptr);
  longest[1] = times.wait;
  mpi::max_in_place(comm, std::span<double>(longest));
  return longest[0] > 0 ? longest[1] / longest[0] : 0;
}

/// Collective. The median seconds of a product in each mode.
template <class T>
std::vector<OverlapTrial> try_overlaps(const mpi::Comm& comm, TriedProduct<T>& product,
                                       std::span<const Overlap> modes) {
  const std::vector<double> seconds =
      median_seconds(comm, modes.size(), [&](std::size_t k) { return product.run(modes[k]); });
  std::vector<OverlapTrial> trials;
  for (std::size_t k = 0; k < modes.size(); ++k) trials.push_back({modes[k], seconds[k]});
  return trials;
}

std::shared_ptr<const OverlapDecision> naive_because(std::string reason) {
  OverlapDecision decision;
  decision.reason = std::move(reason);
  return std::make_shared<const OverlapDecision>(std::move(decision));
}

}  // namespace

OverlapDecision quickest_overlap(std::vector<OverlapTrial> trials) {
  std::vector<double> seconds;
  for (const OverlapTrial& trial : trials) seconds.push_back(trial.seconds);
  const Selection selection = select(seconds);
  OverlapDecision decision;
  decision.trials = std::move(trials);
  decision.chosen = decision.trials[selection.chosen].overlap;
  const OverlapTrial& naive = decision.trials.front();
  const OverlapTrial& rival = decision.trials[selection.rival];
  if (selection.chosen > 0) {
    decision.reason =
        fmt::format("{} against {} naive in {} products each", duration(rival.seconds),
                    duration(naive.seconds), rounds_of_trial);
  } else {
    decision.reason =
        fmt::format("{} against {} {} in {} products each, and a tenth would have to be saved",
                    duration(naive.seconds), duration(rival.seconds),
                    comm::overlap_name(rival.overlap), rounds_of_trial);
  }
  return decision;
}

template <class T>
std::shared_ptr<const OverlapDecision> choose_overlap(const matrix::DistMatrix<T>& A) {
  const mpi::Comm& comm = A.comm();
  if (comm.size() == 1) return naive_because("no rank sends a message");
  const mpi::Scope scope(comm, "overlap_trial");
  const bool may_talk = parallel::threads() > 1 && mpi::may_talk_beside_threads();
  std::array<int, 2> any = {A.n_ghosts() > 0 ? 1 : 0, may_talk ? 0 : 1};
  mpi::max_in_place(comm, std::span<int>(any));
  if (any[0] == 0) return naive_because("no rank sends a message");
  TriedProduct<T> product(A);
  const double waited = part_waited(comm, product);
  if (waited < least_saving) {
    return naive_because(fmt::format("naive waits for {:.0f} % of a product's time", 100 * waited));
  }
  std::vector<Overlap> modes = {Overlap::naive, Overlap::none};
  if (any[1] == 0) modes.push_back(Overlap::task);
  return std::make_shared<const OverlapDecision>(
      quickest_overlap(try_overlaps(comm, product, std::span<const Overlap>(modes))));
}

template std::shared_ptr<const OverlapDecision> choose_overlap(const matrix::DistMatrix<double>&);
template std::shared_ptr<const OverlapDecision> choose_overlap(const matrix::DistMatrix<float>&);

}  // namespace nodewise::routing
