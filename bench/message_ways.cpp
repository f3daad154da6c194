// The cost of the same bytes between two nodes, sent three ways, by the max-rate model: figure 2.4
// of Bienz 2018. A line of JSON for each machine and size.
//   nodewise_bench_message_ways --machine blue-waters,summit --bytes 8,1024
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/message_cost.hpp"

#include "program.hpp"

namespace {

using namespace nodewise;

struct Arguments {
  int ranks_per_node = 16;
  std::vector<std::string> machines = {"blue-waters"};
  std::vector<double> bytes = {8, 64, 512, 4096, 32768, 262144};
};

void write(const std::string& name, const Arguments& arguments) {
  const model::Machine machine = io::find_machine(name);
  const int n = arguments.ranks_per_node;
  const auto between_nodes = [&](double bytes, int senders) {
    return model::message_s(machine, model::Locality::other_node, bytes, senders);
  };
  for (const double bytes : arguments.bytes) {
    std::cout << fmt::format(
                     "{{\"machine\": \"{}\", \"ranks_per_node\": {}, \"bytes\": {:.0f}, "
                     "\"one_to_each_s\": {:.4e}, \"one_to_one_s\": {:.4e}, \"each_to_one_s\": "
                     "{:.4e}}}",
                     name, n, bytes, n * between_nodes(bytes, 1), between_nodes(n * bytes, 1),
                     between_nodes(bytes, n))
              << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("The same bytes between two nodes, sent three ways, by the max-rate model");
  app.add_option("--machine", arguments.machines, "machine files, or names")->delimiter(',');
  app.add_option("--ranks-per-node", arguments.ranks_per_node)->check(CLI::PositiveNumber);
  app.add_option("--bytes", arguments.bytes, "s, of which ranks_per_node s are sent")
      ->delimiter(',');
  return bench::run_program(app, argc, argv, [&] {
    for (const std::string& name : arguments.machines) write(name, arguments);
  });
}
