#include "cli/print/calibrate_tables.hpp"

#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/options/catalog.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

using calibrate::Fits;
using calibrate::NotMeasured;
using calibrate::OverlapTimes;
using calibrate::PathFit;
using calibrate::SpmvTimes;
using calibrate::TriadTimes;

std::string rate(double bytes_per_s) {
  if (!std::isfinite(bytes_per_s)) return "-";
  return human_bytes(bytes_per_s) + "/s";
}

/// "5 %" of the value: half of the interval's length.
std::string accuracy(const model::Estimate& e) {
  const double half = (e.high - e.low) / 2 / e.value;
  return std::isfinite(half) ? fmt::format("{:.1f} %", 100 * half) : "-";
}

std::string limit(const std::optional<model::InjectionFit>& fit) {
  if (!fit) return "-";
  return (fit->reached ? "" : "> ") + rate(fit->bytes_per_s.value);
}

void print_messages(Console& console, const Fits& fits) {
  if (fits.paths.empty()) return;
  Table table(
      {"locality", "protocol", "bytes", "latency", "+-", "rate", "+-", "node's\nrate", "error"});
  for (const PathFit& path : fits.paths) {
    for (std::size_t p = 0; p < path.protocols.size(); ++p) {
      const auto& fit = path.protocols[p];
      if (!fit) continue;
      const bool grows = fit->has_rate();
      table.add_row({to_string(path.locality), to_string(static_cast<model::Protocol>(p)),
                     fmt::format("{:.0f} .. {:.0f}", fit->first_bytes, fit->last_bytes),
                     duration(fit->latency_s.value), accuracy(fit->latency_s),
                     (grows ? "" : "> ") + rate(fit->rate_bytes_per_s()),
                     grows ? accuracy(fit->seconds_per_byte) : "-", limit(path.injection[p]),
                     fmt::format("{:.1f} %", 100 * fit->relative_error)});
    }
  }
  table.print(console, "Messages, latency + bytes / rate, and the interval of 95 %");
}

void print_queue(Console& console, const calibrate::Record& record, const Fits& fits) {
  Table table({"messages under way", "start", "each", "each squared", "+-"});
  const auto add = [&](const std::string& name, const std::optional<model::QueueFit>& fit) {
    if (!fit) return;
    table.add_row({name, duration(fit->base_s.value), duration(fit->per_message_s.value),
                   duration(fit->queue_search_s.value), accuracy(fit->queue_search_s)});
  };
  add("in order, " + record.queue_locality, fits.queue_in_order);
  add("reversed, " + record.queue_locality, fits.queue_reversed);
  if (fits.in_a_row) {
    table.add_row({"in order, other_node", duration(fits.in_a_row->latency_s.value),
                   duration(fits.in_a_row->seconds_per_byte.value), "-", "-"});
  }
  if (fits.queue_reversed)
    table.print(console, "Many messages at once, 80,000 bytes in all (between nodes 8 each)");
  const auto& positions = record.positions;
  if (positions.in_order.empty()) return;
  const auto share = [](std::vector<double> shares) {
    std::sort(shares.begin(), shares.end());
    return shares[shares.size() / 2];
  };
  console.line(
      fmt::format("Steps through the queue of {0} receives, one of each rank: {1:.2f} of "
                  "{0}^2 in the order of ranks, {2:.2f} reversed",
                  positions.messages, share(positions.in_order), share(positions.reversed)));
  console.line();
}

void print_contention(Console& console, const Fits& fits) {
  if (!fits.contention) return;
  console.line(fmt::format("Contention: {} a byte on a link ({} to {})",
                           duration(fits.contention->value), duration(fits.contention->low),
                           duration(fits.contention->high)));
  console.line();
}

void print_overlap(Console& console, const calibrate::Record& record) {
  if (record.overlap.empty()) return;
  Table table({"direction", "bytes", "message", "work", "both", "hidden"});
  for (const OverlapTimes& o : record.overlap) {
    if (o.both.empty()) continue;
    table.add_row({o.direction, human_bytes(o.bytes), duration(o.message.median()),
                   duration(o.work.median()), duration(o.both.median()),
                   fmt::format("{:.0f} %", 100 * o.fraction())});
  }
  table.print(console, "Messages while computing");
}

void print_sums(Console& console, const calibrate::Record& record) {
  const std::size_t half = record.allreduce.size() / 2;
  if (half == 0) return;
  Table table({"bytes", "mpi", "node_aware"});
  for (std::size_t k = 0; k < half; ++k) {
    table.add_row({human_bytes(record.allreduce[k].bytes),
                   duration(record.allreduce[k].times.median()),
                   duration(record.allreduce[k + half].times.median())});
  }
  table.print(console, "Sums over all ranks");
}

void print_products(Console& console, const std::vector<SpmvTimes>& products, const char* title) {
  Table table({"rows", "nonzeros", "product", "a flop"});
  for (const SpmvTimes& s : products) {
    table.add_row({grouped(static_cast<std::int64_t>(s.rows)),
                   grouped(static_cast<std::int64_t>(s.nonzeros)), duration(s.times.median()),
                   duration(s.s_per_flop())});
  }
  table.print(console, title);
}

void print_computation(Console& console, const calibrate::Record& record) {
  Table triad({"threads", "arrays", "all threads", "each"});
  for (const TriadTimes& t : record.triad) {
    triad.add_row({std::to_string(t.threads), "3 x " + human_bytes(t.array_bytes),
                   rate(t.bytes_per_s()), rate(t.bytes_per_s() / t.threads)});
  }
  triad.print(console, "Memory bandwidth of a process (STREAM triad)");
  print_products(console, record.spmv, "Sparse products, on every rank at once");
  print_products(console, record.level_products,
                 "Sparse products by level of a 7-point problem, on every rank at once");
}

void print_cards(Console& console, const calibrate::Record& record, const Fits& fits) {
  if (fits.copies.empty()) return;
  Table table({"from and to cards", "ranks\nat once", "bytes", "latency", "rate", "error"});
  const auto add = [&](const std::string& what, const std::string& ranks,
                       const model::PostalFit& fit) {
    table.add_row({what, ranks, fmt::format("{:.0f} .. {:.0f}", fit.first_bytes, fit.last_bytes),
                   duration(fit.latency_s.value),
                   (fit.has_rate() ? "" : "> ") + rate(fit.rate_bytes_per_s()),
                   fmt::format("{:.1f} %", 100 * fit.relative_error)});
  };
  for (const calibrate::CopyFit& copy : fits.copies) {
    add(copy.direction, std::to_string(copy.processes), copy.fit);
  }
  for (const calibrate::CardPathFit& path : fits.card_paths) {
    for (const model::PostalFit& fit : {path.to_switch, path.beyond}) {
      add(to_string(path.locality), "", fit);
    }
  }
  table.print(console, "Copies of a rank and messages of cards: " + record.card);
}

}  // namespace

void print_calibration(Console& console, const calibrate::Calibration& found) {
  const calibrate::Record& record = found.record;
  const Fits& fits = found.fits;
  print_messages(console, fits);
  print_queue(console, record, fits);
  print_contention(console, fits);
  print_overlap(console, record);
  print_sums(console, record);
  print_computation(console, record);
  print_cards(console, record, fits);
  for (const NotMeasured& n : record.not_measured) {
    console.line(fmt::format("not measured: {}: {}", n.what, in_words_of_command_line(n.why)));
  }
  console.line(fmt::format("measured in {}", human_seconds(record.seconds)));
}

}  // namespace nodewise::cli
