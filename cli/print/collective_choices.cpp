#include "cli/print/collective_choices.hpp"

#include <fmt/format.h>

#include "cli/print/summary.hpp"

namespace nodewise::cli {

void print_collectives(Console& console, const run::CollectiveChoices& choices) {
  console.line("Collective communication");
  print_entry(console, "dot products",
              fmt::format("{}: {}", choices.dot_products.algorithm, choices.dot_products.reason));
  print_entry(console, "sparse exchange",
              fmt::format("{}, on the finest level: {}", choices.sparse_exchange.algorithm,
                          choices.sparse_exchange.reason));
  console.line();
}

}  // namespace nodewise::cli
