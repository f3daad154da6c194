
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nodewise/base/error.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/io/replacement.hpp"
#include "nodewise/model/machine_parameters.hpp"

namespace nodewise::io {

namespace {

using OrderedJson = nlohmann::ordered_json;
using model::Machine;

/// Makes a document of a machine. What is infinite or empty, and may be missing, is left out.
class Writer final : public model::ParameterVisitor {
 public:
  using Key = model::Key;
  using Quantity = model::Quantity;

  explicit Writer(OrderedJson& document) { open_.push_back(&document); }

  void text(const Key& key, std::string& value) override { json()[key.name] = value; }
  void flag(const Key& key, bool& value) override { json()[key.name] = value; }
  void number(const Key& key, double& value, const Quantity& /*quantity*/) override {
    if (value != model::unlimited || key.needed) json()[key.name] = value;
  }
  void whole(const Key& key, int& value, int /*least*/) override { json()[key.name] = value; }
  void whole(const Key& key, std::int64_t& value) override { json()[key.name] = value; }
  void texts(const Key& key, std::vector<std::string>& values) override {
    json()[key.name] = values;
  }
  void numbers(const Key& key, std::vector<double>& values, const Quantity& /*quantity*/) override {
    json()[key.name] = values;
  }
  void counts(const Key& key, std::vector<int>& values) override { json()[key.name] = values; }
  void word(const Key& key, const FamilyBase& family, std::size_t& k) override {
    json()[key.name] = *family.info(k).name;
  }
  void choose(const Key& key, const FamilyBase& family, std::size_t k,
              const std::function<void(std::size_t)>& describe) override {
    word(key, family, k);
    describe(k);
  }
  bool enters(const Key& /*key*/, bool has_some) override { return has_some; }
  void begin(const Key& key) override {
    open_.push_back(&(json()[key.name] = OrderedJson::object()));
  }
  void end() override { open_.pop_back(); }
  std::size_t begin_list(const Key& key, std::size_t size) override {
    open_.push_back(&(json()[key.name] = OrderedJson::array()));
    return size;
  }
  void begin_element(std::size_t /*k*/) override {
    open_.push_back(&json().emplace_back(OrderedJson::object()));
  }
  void end_list() override { open_.pop_back(); }

 private:
  OrderedJson& json() { return *open_.back(); }

  std::vector<OrderedJson*> open_;  // each in the one before, which gets no other member meanwhile
};

OrderedJson machine_json(Machine machine) {
  OrderedJson json = {{"schema_version", 1}};
  Writer writer(json);
  visit_parameters(writer, machine);
  return json;
}

}  // namespace

std::string print_machine(const Machine& machine) {
  check(machine);
  return machine_json(machine).dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

void write_machine(const std::string& path, const Machine& machine) {
  write_text(path, print_machine(machine));
}

}  // namespace nodewise::io
