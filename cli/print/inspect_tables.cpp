#include "cli/print/inspect_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/options/preset_text.hpp"
#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

using predict::CountedExchange;
using predict::LevelCounts;
using predict::MatrixStatistics;
using predict::RouteVolumes;
using predict::VirtualCounts;
using predict::Volume;

/// Of the table of levels, without --details.
constexpr std::size_t most_inspected_levels = 12;

double ratio(GlobalIndex part, GlobalIndex whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<GlobalIndex>(whole, 1));
}

std::string size_text(const run::MatrixSummary& matrix, const MatrixStatistics& statistics) {
  const std::string shape =
      matrix.rows == statistics.columns
          ? counted(matrix.rows, "row") + " and as many columns"
          : counted(matrix.rows, "row") + ", " + counted(statistics.columns, "column");
  return shape + ", " + counted(matrix.nonzeros, "nonzero");
}

std::string rows_text(const run::MatrixSummary& matrix, const MatrixStatistics& statistics) {
  std::string text = fmt::format(
      "{} to {} a row, {:.1f} on average", grouped(statistics.shortest_row),
      counted(statistics.longest_row, "entry", "entries"), ratio(matrix.nonzeros, matrix.rows));
  if (statistics.empty_rows > 0) text += "; " + counted(statistics.empty_rows, "empty row");
  return text + fmt::format("; bandwidth {}", grouped(statistics.bandwidth));
}

std::string diagonal_text(const run::MatrixSummary& matrix, const MatrixStatistics& statistics) {
  std::string text = statistics.zero_diagonals == 0
                         ? "complete"
                         : grouped(statistics.zero_diagonals) + " missing or zero";
  const GlobalIndex others = matrix.rows - statistics.zero_diagonals;
  if (statistics.negative_diagonals == 0) {
    text += ", none negative";
  } else if (statistics.negative_diagonals == others) {
    text += ", all negative";
  } else {
    text += ", " + grouped(statistics.negative_diagonals) + " negative";
  }
  return text + fmt::format("; not less than the rest of the row in {} of {}",
                            grouped(statistics.dominant_rows), counted(matrix.rows, "row"));
}

std::string values_text(const run::MatrixSummary& matrix, const MatrixStatistics& statistics) {
  std::string text =
      fmt::format("moduli from {:.3g} to {:.3g}", statistics.smallest, statistics.largest);
  if (statistics.not_finite > 0) {
    text += ", but " + counted(statistics.not_finite, "entry is", "entries are") + " not finite";
  }
  return text + (matrix.symmetric ? "; symmetric" : "; not symmetric");
}

bool on_several_ranks(const InspectRecord& record) {
  return record.run.machine.ranks > 1;
}

std::vector<std::string> level_row(const InspectRecord& record, std::size_t l) {
  const amg::LevelInfo& info = record.found.levels[l];
  const bool last = l + 1 == record.found.levels.size();
  std::vector<std::string> row = {
      std::to_string(l),
      grouped(info.rows),
      grouped(info.nonzeros),
      fmt::format("{:.1f}", ratio(info.nonzeros, info.rows)),
      grouped(record.found.level_statistics[l].longest_row),
      l == 0 ? "" : fmt::format("{:.2f}", ratio(info.rows, record.found.levels[l - 1].rows)),
      last ? "" : fmt::format("{:.1f}", ratio(info.interpolation_nonzeros, info.rows))};
  if (record.found.counted) {
    const LevelCounts& level = record.found.counted->levels[l];
    row.insert(row.end(), {ranks_text(level.active_ranks, level.copies), grouped(level.most_rows)});
  }
  if (!on_several_ranks(record)) return row;
  const auto bytes = [](std::int64_t entries) {
    return human_bytes(static_cast<double>(sizeof(double)) * static_cast<double>(entries));
  };
  const comm::Traffic& traffic = info.traffic;
  row.insert(row.end(), {ranks_text(info.active_ranks, info.copies),
                         grouped(traffic.messages_on_node), bytes(traffic.entries_on_node),
                         grouped(traffic.messages_off_node), bytes(traffic.entries_off_node)});
  return row;
}

std::vector<std::string> level_heads(const InspectRecord& record) {
  std::vector<std::string> heads = {
      "level", "rows", "nonzeros", "a row", "longest\nrow", "of the\nrows", "entries\nof P, a row"};
  if (record.found.counted) heads.insert(heads.end(), {"ranks\nwith rows", "rows of\na rank"});
  if (on_several_ranks(record)) {
    heads.insert(heads.end(), {"ranks", "on-node\nmessages", "on-node\nbytes", "off-node\nmessages",
                               "off-node\nbytes"});
  }
  return heads;
}

enum class Locality { on_node, off_node };
enum class Extent { of_a_rank, total };

/// A row for every level that has the operation, and for every route a column of messages and one
/// of bytes.
void print_volumes(Console& console, const VirtualCounts& counted, CountedExchange operation,
                   Locality locality, Extent extent) {
  std::vector<std::string> heads = {"level"};
  for (const char* what : {"messages", "bytes"}) {
    for (const comm::Route& route : counted.routes) {
      heads.push_back(fmt::format("{}\n{}", *route->title, what));
    }
  }
  Table table(heads);
  for (std::size_t l = 0; l < counted.levels.size(); ++l) {
    const std::vector<RouteVolumes>& routes = counted.levels[l].of(operation);
    if (routes.empty()) continue;
    std::vector<std::string> messages, bytes;
    for (const RouteVolumes& volumes : routes) {
      const Volume& v = locality == Locality::on_node ? volumes.on_node : volumes.off_node;
      const bool total = extent == Extent::total;
      messages.push_back(grouped(total ? v.messages : v.max_messages));
      bytes.push_back(human_bytes(static_cast<double>(total ? v.bytes : v.max_bytes)));
    }
    std::vector<std::string> row = {std::to_string(l)};
    row.insert(row.end(), messages.begin(), messages.end());
    row.insert(row.end(), bytes.begin(), bytes.end());
    table.add_row(std::move(row));
  }
  table.print(console);
  console.line();
}

std::string virtual_nodes_text(const VirtualCounts& counted, const Settings& settings) {
  const auto [low, high] =
      std::minmax_element(counted.ranks_per_node.begin(), counted.ranks_per_node.end());
  std::string text = nodewise::counted(counted.n_ranks(), "rank") + " on " +
                     nodewise::counted(counted.n_nodes(), "node") + " of ";
  text += *low == *high ? grouped(*high) : fmt::format("{} to {}", *low, *high);
  if (!settings.placement.node_map.empty()) return text + ", as the list of nodes says";
  return text + (deals_in_blocks(settings) ? ", successive ranks on one node"
                                           : ", successive ranks on successive nodes");
}

std::string trust_text(const InspectRecord& record) {
  if (record.found.levels.size() <= 1) return "what so many real ranks send, exactly";
  std::string text = "the finest level: what so many real ranks send, exactly; ";
  if (record.found.counted->levels_are_exact) return text + "coarser ones likewise";
  return text +
         "coarser ones: nearly, for where weights or connections nearly tie round-off decides, "
         "which depends on the ranks";
}

void print_matrix(Console& console, const InspectRecord& record) {
  const run::MatrixSummary& matrix = record.run.matrix;
  const MatrixStatistics& statistics = record.found.statistics;
  console.line("Matrix");
  print_entry(console, "source", matrix_text(matrix));
  print_entry(console, "size", size_text(matrix, statistics));
  print_entry(console, "entries", rows_text(matrix, statistics));
  if (matrix.rows == statistics.columns) {
    print_entry(console, "diagonal", diagonal_text(matrix, statistics));
  }
  print_entry(console, "values", values_text(matrix, statistics));
  console.line();
}

/// What an order has gained, and how evenly ranks share the matrix.
void print_arranged(Console& console, const predict::Inspection& found, GlobalIndex rows,
                    GlobalIndex nonzeros) {
  if (found.reordering_gain) {
    print_entry(console, "bandwidth",
                fmt::format("{} instead of {}", grouped(found.reordering_gain->bandwidth_after),
                            grouped(found.reordering_gain->bandwidth_before)));
  }
  const predict::LargestRank& largest = found.largest_rank;
  if (largest.ranks < 2) return;
  const auto of_mean = [&](GlobalIndex most, GlobalIndex all) {
    return static_cast<double>(most) * largest.ranks /
           static_cast<double>(std::max<GlobalIndex>(all, 1));
  };
  print_entry(console, "most of a rank",
              fmt::format("{}, {:.2f} of the mean; {}, {:.2f}", counted(largest.rows, "row"),
                          of_mean(largest.rows, rows), counted(largest.nonzeros, "nonzero"),
                          of_mean(largest.nonzeros, nonzeros)));
}

void print_levels(Console& console, const InspectRecord& record, bool all) {
  console.line("Hierarchy");
  if (!record.found.no_hierarchy.empty()) {
    print_entry(console, "none", record.found.no_hierarchy);
    console.line();
    return;
  }
  Table table(level_heads(record));
  for (std::size_t l = 0; l < record.found.levels.size(); ++l) table.add_row(level_row(record, l));
  if (!all) table.shorten(most_inspected_levels);
  table.print(console);
  console.line(
      fmt::format("  grid complexity {:.3f}, operator complexity {:.3f}, coarsest level: {}",
                  record.found.grid_complexity, record.found.operator_complexity,
                  record.found.levels.back().coarse_solver));
  console.line();
}

/// Of a product with each level's matrix, added up over the levels.
void print_count_summary(Console& console, const VirtualCounts& counted) {
  Table table({"one product\na level", "messages\nbetween nodes", "bytes\nbetween nodes",
               "of the rank\nwith most", "messages\non nodes", "bytes\non nodes"});
  for (std::size_t k = 0; k < counted.routes.size(); ++k) {
    const RouteVolumes sum = counted.of_all_levels(CountedExchange::product, k);
    const auto bytes = [](const Volume& v) { return human_bytes(static_cast<double>(v.bytes)); };
    table.add_row({*counted.routes[k]->title, grouped(sum.off_node.messages), bytes(sum.off_node),
                   grouped(sum.off_node.max_messages), grouped(sum.on_node.messages),
                   bytes(sum.on_node)});
  }
  table.print(console);
}

void print_virtual_ranks(Console& console, const InspectRecord& record, const Settings& settings) {
  const VirtualCounts& counted = *record.found.counted;
  console.line("Virtual ranks");
  print_entry(console, "machine", virtual_nodes_text(counted, settings));
  print_entry(console, "counts are of", trust_text(record));
  print_count_summary(console, counted);
  console.line();
}

/// Every table of messages and bytes.
void print_counts(Console& console, const VirtualCounts& counted) {
  const auto table = [&](const char* title, CountedExchange operation, Locality locality,
                         Extent extent) {
    console.line(title);
    print_volumes(console, counted, operation, locality, extent);
  };
  const bool several_nodes = counted.n_nodes() > 1;
  if (several_nodes) {
    table("Between nodes, in one product with a level's matrix: the most that one rank sends",
          CountedExchange::product, Locality::off_node, Extent::of_a_rank);
    table("Between nodes, in one product: all ranks together", CountedExchange::product,
          Locality::off_node, Extent::total);
  }
  table("On the nodes, in one product: the most that one rank sends", CountedExchange::product,
        Locality::on_node, Extent::of_a_rank);
  table("On the nodes, in one product: all ranks together", CountedExchange::product,
        Locality::on_node, Extent::total);
  if (counted.levels.size() < 2) return;
  const Locality far = several_nodes ? Locality::off_node : Locality::on_node;
  const std::string where = several_nodes ? "between nodes" : "on the node";
  table(fmt::format("Interpolation from the next level, {}: all ranks together", where).c_str(),
        CountedExchange::interpolation, far, Extent::total);
  if (!counted.levels.front().of(CountedExchange::restriction).empty()) {
    table(fmt::format("Restriction to the next level, {}: all ranks together", where).c_str(),
          CountedExchange::restriction, far, Extent::total);
  }
  table(fmt::format("Rows of the interpolation for the product A P of the setup, {}: all ranks",
                    where)
            .c_str(),
        CountedExchange::interpolation_rows, far, Extent::total);
}

void print_cost(Console& console, const InspectRecord& record, const Settings& settings) {
  console.line("Cost of this inspection");
  std::string times = "read " + human_seconds(record.run.read_s);
  if (settings.arranges_rows()) times += ", partition " + human_seconds(record.found.partition_s);
  times += ", setup " + human_seconds(record.found.setup_s);
  if (record.found.counted) times += ", count " + human_seconds(record.found.count_s);
  print_entry(console, "time", times);
  print_entry(console, "peak memory",
              fmt::format("{} on the largest rank, {} on all",
                          human_bytes(static_cast<double>(record.run.memory.peak_max_bytes)),
                          human_bytes(static_cast<double>(record.run.memory.peak_sum_bytes))));
  if (!settings.result.json.empty()) print_entry(console, "report", settings.result.json);
  const bool has_more = record.found.counted || record.found.levels.size() > most_inspected_levels;
  if (has_more && !settings.result.details) {
    print_entry(console, "more", "--details: every level, and what each exchanges, by route");
  }
}

}  // namespace

void print_inspection(Console& console, const InspectRecord& record, const Settings& settings) {
  print_matrix(console, record);
  const bool tells_preset = is_worth_telling(record.run.preset);
  if (tells_preset) print_entry(console, "preset", preset_text(record.run.preset));
  print_partition(console, settings.method);
  print_placement(console, settings.method.placement, record.found.placement_gain);
  print_arranged(console, record.found, record.run.matrix.rows, record.run.matrix.nonzeros);
  const bool tells_rows = settings.arranges_rows() || record.found.placement_gain ||
                          record.found.largest_rank.ranks > 1;
  if (tells_preset || tells_rows) console.line();
  const bool details = settings.result.details;
  print_levels(console, record, details);
  if (record.found.counted) print_virtual_ranks(console, record, settings);
  if (record.found.counted && details) print_counts(console, *record.found.counted);
  print_cost(console, record, settings);
}

}  // namespace nodewise::cli
