// What products on the levels of a hierarchy send on many virtual ranks over each route, and what
// that costs on a machine by its file, term by term: figures 2.2, 3.1, 3.9, 3.10, 5.7 to 5.11 and
// 5.15 of Bienz 2018. A line of JSON for each number of ranks, level, operation, route and order of
// arrival. Counts are exact; times are predicted.
//   nodewise_bench_level_study --problem beam:16 --option unknowns=3 --ranks 1024,64
//   nodewise_bench_level_study --problem random:100000:entries=50:seed=1 --finest-alone
// The matrix products of a symmetric matrix alone are those of A^T A of chapter 6: by rows of A
// that come (figure 6.13), or by rows of the product that are sent (figure 6.14).
//   nodewise_bench_level_study --problem kronecker:10000:graph_matrix=adjacency --finest-alone
//     --operation matrix_product,outer_product
// With --pairs a line for each level instead: whom each rank sends to in a product and in the
// setup, as figure 1.1 and figure 9 of Gahvari, Gropp, Jordan, Schulz, Yang 2014.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <tuple>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/row_runs.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"
#include "nodewise/model/exchange_cost.hpp"

#include "name_and_value.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using bench::Matrix;

struct Arguments {
  int ranks_per_node = 16;
  bool finest_alone = false, pairs = false;
  double s_per_flop = 0;
  std::string machine = "blue-waters";
  std::vector<int> ranks, nonzeros_per_rank;
  std::vector<std::string> routes = {"direct", "two_step", "three_step"};
  std::vector<std::string> mappings = {"by_size"};
  std::vector<std::string> arrivals = {"observed"};
  std::vector<std::string> operations = {"product"};
  std::vector<std::string> options, problems, matrices;
};

/// A node mapping by its name, or "split=256" with so many entries.
comm::route::NodeMapping mapping_of(const std::string& word) {
  const std::size_t at = word.find('=');
  mpi::CommSettings settings;
  set_option(settings, mpi::all_setting_fields(), "node_mapping", word.substr(0, at));
  if (at != std::string::npos) {
    set_option(settings, mpi::all_setting_fields(), "split_entries", word.substr(at + 1));
  }
  return settings.node_mapping->make(settings.node_mapping);
}

model::Arrival arrival_of(const std::string& name) {
  if (name == "observed") return model::Arrival::observed;
  if (name == "reversed") return model::Arrival::reversed;
  return model::Arrival::in_order;
}

/// Successive ranks fill one socket of a node after the other, as `nodewise predict` has it.
mpi::Topology nodes_of(int n_ranks, int per_node, int sockets) {
  std::vector<int> nodes, socket_of_rank;
  for (int r = 0; r < n_ranks; ++r) {
    nodes.push_back(r / per_node);
    socket_of_rank.push_back(r % per_node * sockets / per_node);
  }
  const mpi::Topology topology(nodes);
  return sockets > 1 ? topology.with_domains(socket_of_rank) : topology;
}

/// Messages and items that the ranks send, of the one that sends most and of all together.
struct Sent {
  std::int64_t most_off = 0, most_items_off = 0, most_on = 0, most_items_on = 0;
  std::int64_t messages_off = 0, items_off = 0;
};

Sent sent_by(std::span<const comm::Traffic> ranks) {
  Sent sent;
  for (const comm::Traffic& traffic : ranks) {
    sent.most_off = std::max(sent.most_off, traffic.messages_off_node);
    sent.most_items_off = std::max(sent.most_items_off, traffic.entries_off_node);
    sent.most_on = std::max(sent.most_on, traffic.messages_on_node);
    sent.most_items_on = std::max(sent.most_items_on, traffic.entries_on_node);
    sent.messages_off += traffic.messages_off_node;
    sent.items_off += traffic.entries_off_node;
  }
  return sent;
}

/// A level's matrix, and what a product with its interpolation sends: rows, which begin so.
struct StudiedLevel {
  std::size_t level = 0;
  const Matrix& A;
  std::span<const GlobalIndex> starts;
  std::vector<Offset> words = {};  ///< empty: none
};

/// The ranks that each rank sends to: for a product, or for the rows of a matrix product.
using Receivers = std::vector<std::vector<int>>;

Receivers receivers_of(std::span<const comm::Pattern> patterns) {
  Receivers all;
  for (const comm::Pattern& pattern : patterns) all.push_back(pattern.send_ranks);
  return all;
}

/// And the other way round.
Receivers turned(const Receivers& receivers) {
  Receivers all(receivers.size());
  for (std::size_t r = 0; r < receivers.size(); ++r) {
    for (const int to : receivers[r]) {
      all[static_cast<std::size_t>(to)].push_back(static_cast<int>(r));
    }
  }
  return all;
}

void add(const Receivers& more, Receivers& all) {
  for (std::size_t r = 0; r < more.size(); ++r) {
    std::vector<int>& mine = all[r];
    mine.insert(mine.end(), more[r].begin(), more[r].end());
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  }
}

/// Returns the rows of A^T A, A symmetric, that each rank makes for others from its own rows of A:
/// those of its ghosts, one rank after the other.
comm::Records<GlobalIndex> partial_rows(const kernels::Csr<double>& A,
                                        std::span<const GlobalIndex> starts) {
  comm::Records<GlobalIndex> records;
  std::vector<std::int64_t> last(static_cast<std::size_t>(A.n_cols), -1);  // the record that has it
  std::vector<std::pair<LocalIndex, LocalIndex>> entries;                  // ghost, row
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    entries.clear();
    for (auto i = static_cast<LocalIndex>(starts[r]); i < starts[r + 1]; ++i) {
      for (Offset k = A.begin(i); k < A.end(i); ++k) {
        const LocalIndex j = A.cols[static_cast<std::size_t>(k)];
        if (j < starts[r] || j >= starts[r + 1]) entries.emplace_back(j, i);
      }
    }
    std::sort(entries.begin(), entries.end());
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const auto record = static_cast<std::int64_t>(records.size());
      const LocalIndex i = entries[e].second;
      for (Offset k = A.begin(i); k < A.end(i); ++k) {
        const LocalIndex j = A.cols[static_cast<std::size_t>(k)];
        if (std::exchange(last[static_cast<std::size_t>(j)], record) != record) {
          records.data.push_back(j);
        }
      }
      if (e + 1 < entries.size() && entries[e + 1].first == entries[e].first) continue;
      std::sort(records.data.begin() + records.offsets.back(), records.data.end());
      records.end_record();
    }
  }
  return records;
}

/// What an operation sends, and what that costs by the order in which messages arrive.
struct Exchanged {
  std::vector<comm::Traffic> traffic;
  std::function<model::ExchangeCost(const model::ExchangeCostOptions&)> cost;
};

class Study {
 public:
  Study(std::string name, const Arguments& arguments, int n_ranks)
      : name_(std::move(name)),
        arguments_(arguments),
        machine_(io::find_machine(arguments.machine)),
        topology_(nodes_of(n_ranks, arguments.ranks_per_node, machine_.sockets_per_node)) {}

  void look_at(const std::shared_ptr<const Matrix>& A) const;

 private:
  void write_pairs(const amg::Hierarchy<double>& hierarchy, std::size_t l) const;
  void look_at_level(const StudiedLevel& level) const;
  void write(const StudiedLevel& level, const std::string& operation, const std::string& route,
             const std::string& mapping, const Exchanged& exchanged) const;
  Exchanged product(std::span<const comm::Plan> plans) const;
  Exchanged rows(std::span<const comm::Plan> plans, std::span<const Offset> words) const;
  Exchanged returned_rows(std::span<const comm::Plan> plans,
                          const comm::Records<GlobalIndex>& made) const;
  bool wants(const char* operation) const {
    const auto& all = arguments_.operations;
    return std::find(all.begin(), all.end(), operation) != all.end();
  }

  std::string name_;
  const Arguments& arguments_;
  model::Machine machine_;
  mpi::Topology topology_;
};

void Study::look_at(const std::shared_ptr<const Matrix>& A) const {
  const auto starts = comm::uniform_starts(A->rows().n_global(), topology_.n_ranks());
  if (arguments_.finest_alone) {
    StudiedLevel level = {0, *A, starts};
    if (wants("matrix_product")) level.words = matrix::virtual_row_words(A->on(), starts, starts);
    return look_at_level(level);
  }
  amg::Options options;
  bench::set_from_words(options, arguments_.options);
  amg::ProblemInfo<double> info;
  info.virtual_starts =
      comm::uniform_point_starts(A->rows().n_global(), topology_.n_ranks(), options.unknowns);
  info.virtual_topology = std::make_shared<const mpi::Topology>(topology_);
  const Timer timer;
  const amg::Hierarchy<double> hierarchy(A, options, info);
  std::cerr << fmt::format("# {}: setup for {} ranks {:.1f} s\n", name_, topology_.n_ranks(),
                           timer.seconds());
  for (std::size_t l = 0; arguments_.pairs && l < hierarchy.levels().size(); ++l) {
    write_pairs(hierarchy, l);
  }
  for (std::size_t l = 0; !arguments_.pairs && l < hierarchy.levels().size(); ++l) {
    const auto rows = hierarchy.virtual_starts(l);
    StudiedLevel level = {l, *hierarchy.matrix(l), rows};
    if (const Matrix* P = hierarchy.interpolation(l); P && wants("matrix_product")) {
      level.words = matrix::virtual_row_words(P->on(), rows, hierarchy.virtual_starts(l + 1));
    }
    look_at_level(level);
  }
}

/// Of a setup: rows of A and of P come to where A has ghosts, and rows of R (A P) go to the owners
/// of P's columns.
void Study::write_pairs(const amg::Hierarchy<double>& hierarchy, std::size_t l) const {
  const auto rows = hierarchy.virtual_starts(l);
  const Matrix& A = *hierarchy.matrix(l);
  const Receivers product =
      receivers_of(comm::virtual_patterns(rows, matrix::virtual_ghosts(A.on(), rows, rows)));
  Receivers setup = product;
  if (const Matrix* P = hierarchy.interpolation(l)) {
    const auto coarse = hierarchy.virtual_starts(l + 1);
    const Receivers of_P =
        receivers_of(comm::virtual_patterns(coarse, matrix::virtual_ghosts(P->on(), rows, coarse)));
    add(turned(of_P), setup);
  }
  std::cout
      << fmt::format(
             "{{\"problem\": \"{}\", \"ranks\": {}, \"level\": {}, \"rows\": {}, \"product\": "
             "{}, \"setup\": {}}}",
             name_, topology_.n_ranks(), l, A.rows().n_global(), product, setup)
      << std::endl;
}

void Study::look_at_level(const StudiedLevel& level) const {
  const auto patterns = comm::virtual_patterns(
      level.starts, matrix::virtual_ghosts(level.A.on(), level.starts, level.starts));
  comm::Records<GlobalIndex> made;
  if (wants("outer_product")) made = partial_rows(level.A.on(), level.starts);
  for (const std::string& route : arguments_.routes) {
    for (const std::string& mapping : arguments_.mappings) {
      if (route != "three_step" && mapping != arguments_.mappings.front()) continue;
      const auto plans =
          comm::virtual_plans(patterns, topology_, comm::Route(route), mapping_of(mapping));
      if (wants("product")) write(level, "product", route, mapping, product(plans));
      if (!level.words.empty()) {
        write(level, "matrix_product", route, mapping, rows(plans, level.words));
      }
      if (wants("outer_product")) {
        write(level, "outer_product", route, mapping, returned_rows(plans, made));
      }
    }
  }
}

Exchanged Study::product(std::span<const comm::Plan> plans) const {
  return {comm::virtual_traffic(plans, topology_),
          [this, plans](const model::ExchangeCostOptions& options) {
            return model::forward_cost(plans, topology_, machine_, options);
          }};
}

Exchanged Study::rows(std::span<const comm::Plan> plans, std::span<const Offset> words) const {
  return {comm::virtual_record_traffic(plans, topology_, words),
          [this, plans, words](const model::ExchangeCostOptions& options) {
            return model::record_cost(plans, topology_, machine_, words, options);
          }};
}

Exchanged Study::returned_rows(std::span<const comm::Plan> plans,
                               const comm::Records<GlobalIndex>& made) const {
  std::vector<comm::Traffic> traffic(plans.size());
  std::map<std::tuple<std::size_t, int, int>, double> bytes;
  comm::visit_returned_record_messages(
      plans, topology_, made, matrix::words_of<double>,
      [&](std::size_t stage, int from, int to, std::int64_t words) {
        traffic[static_cast<std::size_t>(from)].add(topology_, from, to, words);
        bytes[{stage, from, to}] += 8.0 * static_cast<double>(words);
      });
  comm::visit_reversed_messages(plans, topology_,
                                [&](std::size_t stage, int from, int to, std::int64_t lengths) {
                                  bytes[{stage, from, to}] += 8.0 * static_cast<double>(lengths);
                                });
  return {std::move(traffic),
          [this, bytes = std::move(bytes)](const model::ExchangeCostOptions& options) {
            model::ExchangeTally tally(machine_, topology_, options);
            for (const auto& [message, of_message] : bytes) {
              const auto& [stage, from, to] = message;
              tally.add(stage, from, to, of_message);
            }
            return tally.total();
          }};
}

void Study::write(const StudiedLevel& level, const std::string& operation, const std::string& route,
                  const std::string& mapping, const Exchanged& exchanged) const {
  const Sent sent = sent_by(exchanged.traffic);
  std::int64_t active = 0, most = 0;
  for (std::size_t r = 0; r + 1 < level.starts.size(); ++r) {
    const auto begin = narrow<LocalIndex>(level.starts[r]);
    const auto end = narrow<LocalIndex>(level.starts[r + 1]);
    active += begin < end ? 1 : 0;
    most = std::max<std::int64_t>(most, level.A.on().begin(end) - level.A.on().begin(begin));
  }
  for (const std::string& arrival : arguments_.arrivals) {
    model::ExchangeCostOptions options;
    options.arrival = arrival_of(arrival);
    const model::ExchangeCost cost = exchanged.cost(options);
    constexpr std::int64_t item = 8;
    std::cout << fmt::format(
                     "{{\"problem\": \"{}\", \"ranks\": {}, \"ranks_per_node\": {}, \"level\": {}, "
                     "\"rows\": {}, \"nonzeros\": {}, \"active_ranks\": {}, \"most_nonzeros\": {}, "
                     "\"operation\": \"{}\", \"route\": \"{}\", \"mapping\": \"{}\", \"arrival\": "
                     "\"{}\", "
                     "\"most_messages_off\": {}, \"most_bytes_off\": {}, \"most_messages_on\": {}, "
                     "\"most_bytes_on\": {}, \"messages_off\": {}, \"bytes_off\": {}, "
                     "\"latency_s\": {:.4e}, \"bandwidth_s\": {:.4e}, \"injection_s\": {:.4e}, "
                     "\"queue_s\": {:.4e}, \"contention_s\": {:.4e}, \"total_s\": {:.4e}, "
                     "\"work_s\": {:.4e}}}",
                     name_, topology_.n_ranks(), arguments_.ranks_per_node, level.level,
                     level.A.rows().n_global(), level.A.nnz_global(), active, most, operation,
                     route, mapping, arrival, sent.most_off, item * sent.most_items_off,
                     sent.most_on, item * sent.most_items_on, sent.messages_off,
                     item * sent.items_off, cost.latency_s, cost.bandwidth_s, cost.injection_s,
                     cost.queue_s, cost.contention_s, cost.total(),
                     2 * arguments_.s_per_flop * static_cast<double>(most))
              << std::endl;
  }
}

/// The numbers of ranks to look at: those that fill whole nodes where nonzeros a rank are given.
std::vector<int> numbers_of_ranks(const Matrix& A, const Arguments& arguments) {
  std::vector<int> all = arguments.ranks;
  for (const int nonzeros : arguments.nonzeros_per_rank) {
    const double nodes = static_cast<double>(A.nnz_global()) / nonzeros / arguments.ranks_per_node;
    all.push_back(std::max(1, static_cast<int>(std::lround(nodes))) * arguments.ranks_per_node);
  }
  return all;
}

void study_all(const std::string& name, const std::shared_ptr<const Matrix>& A,
               const Arguments& arguments) {
  for (const int ranks : numbers_of_ranks(*A, arguments)) {
    Study(name, arguments, ranks).look_at(A);
  }
}

/// Of "name:n:option=value:...", with options of the gallery.
std::shared_ptr<const Matrix> make_problem(const std::shared_ptr<const mpi::Comm>& comm,
                                           const std::string& text) {
  std::istringstream words(text);
  std::string name, n, word;
  std::getline(words, name, ':');
  std::getline(words, n, ':');
  io::GalleryOptions options;
  set_option(options, io::gallery_fields(), "problem", name);
  set_option(options, io::gallery_fields(), "n", n);
  while (std::getline(words, word, ':')) {
    const auto [option, value] = bench::name_and_value(word);
    set_option(options, io::gallery_fields(), option, value);
  }
  return std::make_shared<const Matrix>(io::generate<double>(comm, options));
}

void run(const Arguments& arguments) {
  const auto comm = mpi::Comm::create(MPI_COMM_SELF);
  for (const std::string& problem : arguments.problems) {
    study_all(problem, make_problem(comm, problem), arguments);
  }
  for (const std::string& file : arguments.matrices) {
    const std::string name = file.substr(file.find_last_of('/') + 1);
    study_all(name.substr(0, name.find('.')),
              std::make_shared<const Matrix>(io::read_matrix<double>(comm, file)), arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("What products on the levels of a hierarchy send and cost, for virtual ranks");
  app.add_option("--problem", arguments.problems, "model problems, name:n:option=value:...");
  app.add_option("--matrix", arguments.matrices, "files");
  app.add_option("--option", arguments.options, "options of the hierarchy: name=value");
  app.add_flag("--finest-alone", arguments.finest_alone, "the matrix itself, without a hierarchy");
  app.add_flag("--pairs", arguments.pairs, "whom each rank sends to, and nothing else");
  app.add_option("--ranks", arguments.ranks, "numbers of ranks")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--nonzeros-per-rank", arguments.nonzeros_per_rank, "and as many as have so many")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--s-per-flop", arguments.s_per_flop,
                 "of the arithmetic of products with vectors");
  app.add_option("--ranks-per-node", arguments.ranks_per_node)->check(CLI::PositiveNumber);
  app.add_option("--machine", arguments.machine, "a machine file, or the name of one");
  app.add_option("--routes", arguments.routes, "routes to look at")->delimiter(',');
  app.add_option("--node-mapping", arguments.mappings,
                 "of route three_step: by_size, owner, split, split=entries")
      ->delimiter(',');
  app.add_option(
         "--operation", arguments.operations,
         "product; matrix_product: A P, or A^T A by rows with --finest-alone; outer_product: "
         "A^T A by outer products, with that alone, of symmetric matrices")
      ->delimiter(',')
      ->check(CLI::IsMember({"product", "matrix_product", "outer_product"}));
  app.add_option("--arrival", arguments.arrivals, "in_order, observed, reversed")
      ->delimiter(',')
      ->check(CLI::IsMember({"in_order", "observed", "reversed"}));
  return bench::run_program(app, argc, argv, [&] { run(arguments); });
}
