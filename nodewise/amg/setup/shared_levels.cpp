#include "nodewise/amg/setup/shared_levels.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

namespace {

/// Numbers and texts one after another.
class Writer {
 public:
  template <class N>
  requires(std::is_arithmetic_v<N> || std::is_enum_v<N>) void operator()(const N& number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(N));
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes_ += text;
  }
  template <class D>
  void operator()(const Choice<D>& choice) {
    (*this)(choice.name());
  }
  template <class V, class F>
  void list(const std::vector<V>& values, const F& write) {
    (*this)(values.size());
    for (const V& value : values) write(*this, value);
  }
  template <class V, class F>
  void optional(const std::shared_ptr<V>& value, const F& write) {
    (*this)(value != nullptr);
    if (value) write(*this, *value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what a Writer wrote, by the same calls.
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class N>
  requires(std::is_arithmetic_v<N> || std::is_enum_v<N>) void operator()(N& number) {
    std::memcpy(&number, bytes_.data() + at_, sizeof(N));
    at_ += sizeof(N);
  }
  void operator()(std::string& text) {
    std::size_t length = 0;
    (*this)(length);
    text = bytes_.substr(at_, length);
    at_ += length;
  }
  template <class D>
  void operator()(Choice<D>& choice) {
    std::string name;
    (*this)(name);
    choice = Choice<D>(name);
  }
  template <class V, class F>
  void list(std::vector<V>& values, const F& read) {
    std::size_t n = 0;
    (*this)(n);
    values.resize(n);
    for (V& value : values) read(*this, value);
  }
  template <class V, class F>
  void optional(std::shared_ptr<const V>& value, const F& read) {
    bool has_value = false;
    (*this)(has_value);
    if (!has_value) return;
    auto made = std::make_shared<V>();
    read(*this, *made);
    value = std::move(made);
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

/// A level as others know it.
struct SharedLevel {
  LevelInfo info;
  bool solved_directly = false;
  std::vector<GlobalIndex> starts;  // of the rows of all ranks; empty where all ranks have a part
  std::vector<GlobalIndex> starts_before_move;  // empty where the transfer does not need them
};

constexpr auto pass_number = [](auto& pass, auto& value) { pass(value); };

constexpr auto pass_route_decision = [](auto& pass, auto& decision) {
  pass(decision.chosen);
  pass.list(decision.predictions, [](auto& inner, auto& prediction) {
    inner(prediction.route);
    inner(prediction.seconds);
    inner(prediction.off_node_messages);
  });
  pass(decision.reason);
  pass(decision.basis);
};

constexpr auto pass_transport_decision = [](auto& pass, auto& decision) {
  pass(decision.chosen);
  pass.list(decision.trials, [](auto& inner, auto& trial) {
    inner(trial.transport);
    inner(trial.seconds);
  });
  pass(decision.reason);
};

constexpr auto pass_overlap_decision = [](auto& pass, auto& decision) {
  pass(decision.chosen);
  pass.list(decision.trials, [](auto& inner, auto& trial) {
    inner(trial.overlap);
    inner(trial.seconds);
  });
  pass(decision.reason);
};

constexpr auto pass_redistribution = [](auto& pass, auto& decision) {
  pass(decision.ranks_before);
  pass(decision.ranks);
  pass(decision.stay_s);
  pass(decision.moved_s);
  pass(decision.stay_setup_s);
  pass(decision.moved_setup_s);
  pass(decision.redundant);
  pass(decision.reason);
};

constexpr auto pass_sparsity_decision = [](auto& pass, auto& decision) {
  pass(decision.drop);
  pass(decision.tolerance);
  pass(decision.by_nodes);
  pass(decision.full_s);
  pass(decision.sparse_s);
  pass(decision.growth);
  pass(decision.reason);
};

constexpr auto pass_sparsity = [](auto& pass, auto& sparsity) {
  pass(sparsity.tolerance);
  pass(sparsity.nonzeros);
};

/// Of `level`, or into it. Traffic is of every rank's own part, and added up later.
constexpr auto pass_level = [](auto& pass, auto& level) {
  auto& info = level.info;
  pass(info.rows);
  pass(info.nonzeros);
  pass(info.interpolation_nonzeros);
  pass(info.copies);
  pass(info.routes.setup);
  pass(info.routes.solve);
  pass(info.routes.setup_transport);
  pass(info.routes.solve_transport);
  pass.optional(info.route_choice, pass_route_decision);
  pass.optional(info.setup_route_choice, pass_route_decision);
  pass.optional(info.transport_choice, pass_transport_decision);
  pass(info.overlap);
  pass.optional(info.overlap_choice, pass_overlap_decision);
  pass.optional(info.redistribution_choice, pass_redistribution);
  pass.optional(info.sparsity_choice, pass_sparsity_decision);
  pass.optional(info.sparsity, pass_sparsity);
  pass(level.solved_directly);
  pass.list(level.starts, pass_number);
  pass.list(level.starts_before_move, pass_number);
};

/// Where the rows of all `n_ranks` ranks of the finest level's communicator begin, of which `ranks`
/// have some, laid out by `rows`.
std::vector<GlobalIndex> starts_of_all(const comm::Layout& rows, std::span<const int> ranks,
                                       int n_ranks) {
  std::vector<GlobalIndex> starts;
  std::size_t next = 0;
  for (int r = 0; r < n_ranks; ++r) {
    while (next < ranks.size() && ranks[next] < r) ++next;
    starts.push_back(next < ranks.size() ? rows.begin(static_cast<int>(next)) : rows.last());
  }
  starts.push_back(rows.last());
  return starts;
}

template <class T>
std::vector<SharedLevel> levels_here(const mpi::Comm& comm, const SetUp<T>& made) {
  std::vector<SharedLevel> shared;
  for (std::size_t l = 0; l < made.levels.size(); ++l) {
    const Level<T>& level = *made.levels[l];
    SharedLevel& facts = shared.emplace_back();
    facts.info = made.info[l];
    facts.solved_directly = level.solved_directly;
    if (!level.ranks.empty()) {
      facts.starts = starts_of_all(level.A->rows(), level.ranks, comm.size());
    }
    if (l == 0) continue;
    const Level<T>& above = *made.levels[l - 1];
    if (const auto& before = above.transfer.before_move) {
      const auto starts = before->rows().starts();
      facts.starts_before_move = above.ranks.empty()
                                     ? std::vector<GlobalIndex>(starts.begin(), starts.end())
                                     : starts_of_all(before->rows(), above.ranks, comm.size());
    }
  }
  return shared;
}

/// Makes the levels of which this rank has no part.
template <class T>
void take_shared(std::vector<SharedLevel>& shared, SetUp<T>& made, const LevelObserver& observe) {
  for (std::size_t l = 0; l < shared.size(); ++l) {
    if (l == made.levels.size()) {
      Level<T>& level = *made.levels.emplace_back(std::make_unique<Level<T>>());
      level.depth = static_cast<int>(l);
      level.is_elsewhere = true;
      made.info.emplace_back();
      made.radii.push_back(0);
    }
    Level<T>& level = *made.levels[l];
    level.starts = std::move(shared[l].starts);
    level.starts_before_move = std::move(shared[l].starts_before_move);
    if (!level.is_elsewhere) continue;
    level.solved_directly = shared[l].solved_directly;
    made.info[l] = std::move(shared[l].info);
    if (observe) observe(level.depth, made.info[l]);
  }
}

}  // namespace

template <class T>
void share_levels(const mpi::Comm& comm, SetUp<T>& made, const std::optional<Error>& failure,
                  const LevelObserver& observe) {
  const bool has_all = !failure && !made.levels.back()->is_elsewhere;
  std::string written;
  const auto write = [&] {
    Writer writer;
    if (has_all) writer.list(levels_here(comm, made), pass_level);
    written = writer.take();
  };
  mpi::agree(comm, failure ? failure : mpi::caught(write));
  made.informant = mpi::max(comm, has_all ? comm.rank() : -1);
  if (comm.rank() != made.informant) written.clear();
  Reader reader(mpi::broadcast(comm, written, made.informant));
  std::vector<SharedLevel> shared;
  reader.list(shared, pass_level);
  take_shared(shared, made, observe);
}

#define NODEWISE_INSTANTIATE(T)                                                        \
  template void share_levels(const mpi::Comm&, SetUp<T>&, const std::optional<Error>&, \
                             const LevelObserver&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
