// Machine files: what is shipped, what comes back after writing, and what broken files are told.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/io/machine_file.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"

namespace nodewise::io {
namespace io_machine_file_test {

using model::Locality;
using model::Machine;
using testing::HasSubstr;

/// A machine with a value of its own in every place.
Machine full_machine() {
  Machine machine;
  machine.name = "full \"of\" it";
  machine.source = "a test, äöü";
  machine.measured = true;
  machine.notes = {"one", "two"};
  machine.sockets_per_node = 3;
  machine.cores_per_node = 12;
  double value = 1;
  for (model::PathParameters& path : machine.paths) {
    for (auto& set : path) {
      set = model::MessageParameters{1e-7 / 3 * value, 1e9 * value, 2e9 * value};
      value += 1;
    }
  }
  machine.paths[0][1].reset();
  machine.paths[2][0]->injection_bytes_per_s = model::unlimited;
  machine.switch_sizes = {64, std::int64_t{1} << 40};
  machine.own_switch_sizes[1] = model::SwitchSizes{8, 4096};
  machine.queue_search_s = 8.4e-9;
  machine.contention_s_per_byte_per_link = 1e-10;
  machine.scenario = "beta_gamma";
  machine.hop_latency_s = 4.16e-7;
  machine.hardware_bytes_per_s = 1.6e10;
  machine.s_per_flop_by_level = {1.59e-9, 8.06e-10};
  machine.s_per_flop_by_size = {{1000, 1e-9}, {model::unlimited, 2e-9}};
  machine.thread_bandwidth = {{1, 1e10}, {4, 3e9}};
  machine.caches = {{1e6, 1}, {3.2e7, 8}};
  machine.gpu = model::GpuPaths{4, {1e-5, 1e10}, {2e-5, 2e10}, {{4, {3e-5, 5e9}}}, 2048, {}, 2e10};
  machine.gpu->direct[1] = model::GpuMessages{{3e-6, model::unlimited}, {4e-6, 5e10}};
  machine.overheads = model::MessageOverheads{1e-7, 2e-7, 3e-7, 4e-7, 5e-8};
  machine.allreduces = model::MeasuredAllreduces{6, 2, {{8, 1e-5}, {64, 2e-5}}, {{8, 7e-6}}};
  machine.progress = {{1024, 0.25, {}}, {65536, 1.0, 0.0}};
  return machine;
}

TEST(MachineFile, ComesBackAsItWasWritten) {
  Machine machine = full_machine();
  for (const model::NetworkShape& shape :
       {model::NetworkShape(), model::NetworkShape(model::FatTree{18, 3}),
        model::NetworkShape(model::Torus{{4, 5, 6}, 2}),
        model::NetworkShape(model::Dragonfly{9, 6, 16, 4, 2.5})}) {
    machine.network = shape;
    EXPECT_EQ(parse_machine(print_machine(machine), "printed"), machine);
  }
  Machine least;
  least.name = "least";
  least.paths[2][2] = model::MessageParameters{0, 1, model::unlimited};
  EXPECT_EQ(parse_machine(print_machine(least), "printed"), least);
}

TEST(MachineFile, IsWrittenWholeOrNotAtAll) {
  const test::TempFolder folder;
  const std::string mine = folder.path(std::to_string(test::test_comm()->rank()));
  const std::string path = mine + ".json";
  write_machine(path, full_machine());
  EXPECT_EQ(read_machine(path), full_machine());
  EXPECT_EQ(find_machine(path), full_machine());
  Machine broken = full_machine();
  broken.queue_search_s = -1;
  EXPECT_THROW(write_machine(path, broken), Error);
  EXPECT_EQ(read_machine(path), full_machine()) << "the old file stays";
  EXPECT_THROW(write_machine(mine + "/x.json", full_machine()), Error);
  std::filesystem::create_directory(mine);
  EXPECT_THROW(write_machine(mine, full_machine()), Error);
  EXPECT_FALSE(std::filesystem::exists(mine + ".partial"));
}

TEST(MachineFile, ShipsMachinesThatCanBeRead) {
  const std::vector<std::string> names = shipped_machine_names();
  EXPECT_THAT(names, testing::ElementsAre("blue-waters", "blue-waters-2", "eos", "generic-cluster",
                                          "lassen-mvapich", "lassen-spectrum", "summit"));
  for (const std::string& name : names) {
    const Machine machine = shipped_machine(name);
    EXPECT_EQ(machine.name, name);
    EXPECT_FALSE(machine.source.empty());
    EXPECT_EQ(machine.measured, name != "generic-cluster");
    EXPECT_EQ(find_machine(name), machine);
    EXPECT_EQ(parse_machine(print_machine(machine), name), machine);
  }
}

TEST(MachineFile, HasTheFiguresOfThePapers) {
  // Table 3.1 of the dissertation of Bienz.
  const Machine blue_waters = shipped_machine("blue-waters");
  EXPECT_EQ(blue_waters.parameters(Locality::other_node, 1e6).injection_bytes_per_s, 6.6e9);
  EXPECT_EQ(blue_waters.parameters(Locality::other_node, 8).injection_bytes_per_s,
            model::unlimited);
  EXPECT_EQ(blue_waters.parameters(Locality::same_node, 1000).rate_bytes_per_s, 9.6e8);
  EXPECT_EQ(blue_waters.parameters(Locality::same_socket, 1e6).rate_bytes_per_s, 6e9);
  // Its table 5.3 without the negative rate: short messages take the parameters of eager ones.
  EXPECT_EQ(shipped_machine("blue-waters-2").parameters(Locality::other_node, 8).rate_bytes_per_s,
            6.2e7);
  // Table 1 of Gahvari et al.: 0.858 ns for a double.
  const Machine eos = shipped_machine("eos");
  EXPECT_NEAR(8 / eos.parameters(Locality::same_socket, 8).rate_bytes_per_s, 0.858e-9, 1e-20);
}

/// A least file, in which the cases below replace `what` by `with`.
const std::string sound = R"({
  "schema_version": 1,
  "name": "m",
  "source": "s",
  "measured": false,
  "node": {"sockets": 2, "cores": 16},
  "protocols": {
    "switch_sizes": {"short_bytes": 512, "eager_bytes": 8192},
    "other_node": {"short": {"latency_s": 2e-6, "rate_bytes_per_s": 1e9}}
  },
  "network": {"shape": "torus", "dimensions": [4, 4]},
  "computation": {"thread_bandwidth": [{"threads": 1, "bytes_per_s": 1e9}]}
}
)";

struct Broken {
  const char* what;
  const char* with;
  const char* message;
};

std::string refusal(const std::string& text) {
  try {
    (void)parse_machine(text, "m.json");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::file_format);
    return e.what();
  }
  return "accepted";
}

TEST(MachineFile, RefusesBrokenFilesByName) {
  const std::vector<Broken> cases = {
      {"1e9}}", "-2.1e9}}",
       "machine file m.json: protocols.other_node.short.rate_bytes_per_s is -2100000000; a rate "
       "must be positive"},
      {"1e9}}", "0}}", "protocols.other_node.short.rate_bytes_per_s is 0; a rate must be positive"},
      {"1e9}}", "\"1e9\"}}",
       "protocols.other_node.short.rate_bytes_per_s is \"1e9\"; it must be a number"},
      {"1e9}}", "null}}",
       "protocols.other_node.short.rate_bytes_per_s is null; it must be a number"},
      {"1e9}}", "1e999}}", "machine file m.json: number overflow"},
      {", \"rate_bytes_per_s\": 1e9}}", "}}",
       "protocols.other_node.short.rate_bytes_per_s is missing"},
      {"\"latency_s\"", "\"latency_us\"",
       "protocols.other_node.short.latency_s is missing; there is 'latency_us' instead"},
      {"1e9}}", "1e9, \"injection_byte_per_s\": 1}}",
       "protocols.other_node.short.injection_byte_per_s is not known; did you mean "
       "'injection_bytes_per_s'?"},
      {"\"short\"", "\"brief\"", "protocols.other_node.brief is not known"},
      {"\"other_node\": {", "\"other_nodes\": {",
       "protocols.other_node is missing; there is 'other_nodes' instead"},
      {"\"short\": {\"latency_s\": 2e-6, \"rate_bytes_per_s\": 1e9}", "",
       "protocols.other_node is empty"},
      {"\"name\": \"m\"", "\"name\": 3", "name is 3; it must be a text"},
      {"\"name\": \"m\"", "\"name\": \"\"", "name is empty"},
      {"\"source\": \"s\",", "", "source is missing"},
      {"false", "\"no\"", "measured is \"no\"; it must be true or false"},
      {"\"schema_version\": 1", "\"schema_version\": 2",
       "schema_version is 2; this version reads 1"},
      {"\"cores\": 16", "\"cores\": 16.5", "node.cores is 16.5; it must be a whole number"},
      {"\"cores\": 16", "\"cores\": 5000000000", "node.cores is 5000000000; it must fit 32 bits"},
      {"\"cores\": 16", "\"cores\": 0", "node.cores is 0; a count must be at least 1"},
      {"8192", "18446744073709551615",
       "protocols.switch_sizes.eager_bytes is 18446744073709551615"},
      {"8192", "511", "protocols.switch_sizes.eager_bytes is 511; it must not be below"},
      {"\"other_node\": {", "\"other_node\": {\"switch_sizes\": {\"short_bytes\": 1}, ",
       "protocols.other_node.switch_sizes.eager_bytes is missing"},
      {"{\"sockets\": 2, \"cores\": 16}", "[2, 16]", "node is [2,16]; it must be an object"},
      {"\"torus\"", "\"donut\"",
       "network.shape is \"donut\"; it must be one of none, fat_tree, torus, dragonfly"},
      {"\"computation\"", "\"allreduce\": {\"ranks\": 2, \"nodes\": 1}, \"computation\"",
       "allreduce is there, but no time of any algorithm"},
      {"\"computation\"", "\"progress\": [{\"bytes\": 8, \"sent\": 1}], \"computation\"",
       "progress[0].sent is not known; did you mean 'send'?"},
      {"[4, 4]", "[4, -4]", "network.dimensions[1] is -4"},
      {"[4, 4]", "[4, \"4\"]", "network.dimensions[1] is \"4\"; it must be a whole number"},
      {"[4, 4]", "4", "network.dimensions is 4; it must be a list"},
      {"[4, 4]", "[4, 4], \"levels\": 2", "network.levels is not known"},
      {"{\"threads\": 1,", "{\"theads\": 1,",
       "computation.thread_bandwidth[0].threads is missing; there is 'theads' instead"},
      {"\"name\"", "\"gpu\": {\"gpus_per_node\": 4}, \"name\"", "gpu.to_host is missing"},
      {"\"name\"", "\"overheads\": {}, \"name\"", "overheads.send_on_node_s is missing"},
      {"\"name\": \"m\",", "\"name\": \"m\", \"name\": \"n\",", "the key \"name\" is there twice"},
      {"\"name\": \"m\",", "\"name\": \"m\"", "parse error at line 4"},
      {"\"measured\": false,", "\"measured\": false, \"quue_search_s\": 0,",
       "quue_search_s is not known; did you mean 'queue_search_s'?"},
  };
  EXPECT_EQ(refusal(sound), "accepted");
  for (const Broken& c : cases) {
    std::string text = sound;
    const std::size_t at = text.find(c.what);
    ASSERT_NE(at, std::string::npos) << c.what;
    text.replace(at, std::string(c.what).size(), c.with);
    EXPECT_THAT(refusal(text), HasSubstr(c.message)) << c.what << " -> " << c.with;
  }
  EXPECT_THAT(refusal(""), HasSubstr("parse error"));
  EXPECT_THAT(refusal("[]"), HasSubstr("the document is []; it must be an object"));
}

TEST(MachineFile, RefusesWhatNoMachineHas) {
  const std::string deep(100000, '[');
  EXPECT_THAT(refusal(deep), HasSubstr("objects and lists are nested more than 16 deep"));
  EXPECT_THAT(refusal(deep + std::string(100000, ']')), HasSubstr("nested more than 16 deep"));
  const auto with = [](const std::string& what, const std::string& other) {
    std::string text = sound;
    return text.replace(text.find(what), what.size(), other);
  };
  const std::string objects = [] {
    std::string text;
    for (int k = 0; k < 20; ++k) text += "{\"a\": ";
    return text + "1" + std::string(20, '}');
  }();
  EXPECT_THAT(refusal(with("\"s\"", objects)), HasSubstr("nested more than 16 deep"));
  EXPECT_THAT(refusal(with("1e9}}", "1e-300}}")),
              HasSubstr("machine file m.json: protocols.other_node.short.rate_bytes_per_s is "
                        "1e-300; only 1 to 1e+18 bytes/s make sense"));
  EXPECT_THAT(refusal(with("1e9}}", "5e-324}}")), HasSubstr("rate_bytes_per_s is 5e-324; only"));
  EXPECT_THAT(refusal(with("2e-6", "1e300")),
              HasSubstr("protocols.other_node.short.latency_s is 1e+300; only"));
  EXPECT_THAT(refusal(with("\"m\"", "\"\\u001b[31m\"")), HasSubstr("name has control characters"));
  EXPECT_THAT(refusal(with("\"cores\"", "\"\\u001b[2J\": 1, \"cores\"")),
              HasSubstr(R"(node.\x1b[2J is not known)"));
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// With NODEWISE_WRITE_DOCS set the schema is written instead; the table of keys is shown.
TEST(MachineFile, IsDocumentedByItsParameters) {
  const std::string docs = NODEWISE_SOURCE_DIR "/docs/";
  if (std::getenv("NODEWISE_WRITE_DOCS") != nullptr && test::test_comm()->is_root()) {
    std::ofstream(docs + "machine.schema.json") << machine_schema();
    std::cout << machine_keys();
  }
  EXPECT_EQ(text_of(docs + "machine.schema.json"), machine_schema());
  EXPECT_THAT(text_of(docs + "machines.md"), HasSubstr(machine_keys()));
}

std::string error_of(const std::string& name, ErrorCode expected) {
  try {
    (void)find_machine(name);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), expected);
    return e.what();
  }
  return "accepted";
}

TEST(MachineFile, IsFoundByNameOrByPath) {
  EXPECT_THAT(error_of("blue-wates", ErrorCode::unknown_option),
              testing::AllOf(HasSubstr("did you mean 'blue-waters'?"), HasSubstr("eos")));
  EXPECT_THAT(error_of("", ErrorCode::unknown_option), HasSubstr("there is no machine ''"));
  EXPECT_THAT(error_of("no/such", ErrorCode::file_not_found), HasSubstr("no/such"));
  EXPECT_THAT(error_of("missing.json", ErrorCode::file_not_found), HasSubstr("missing.json"));
}

TEST(MachineFile, IsReadByOneRankForAll) {
  const auto comm = test::test_comm();
  const test::TempFolder folder;
  EXPECT_EQ(find_machine(*comm, "eos"), shipped_machine("eos"));
  const std::string path = folder.file("m.json", print_machine(full_machine()));
  EXPECT_EQ(find_machine(*comm, path), full_machine());
  const std::string broken = folder.file("broken.json", "{}");
  EXPECT_THAT(test::expect_same_error(*comm, ErrorCode::file_format,
                                      [&] { (void)find_machine(*comm, broken); }),
              HasSubstr("schema_version is missing"));
}

}  // namespace io_machine_file_test
}  // namespace nodewise::io
