// The schema of machine files and the table of their keys, from the one table of parameters.
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/machine_parameters.hpp"

namespace nodewise::io {

namespace {

using OrderedJson = nlohmann::ordered_json;
using model::Key;
using model::Quantity;

OrderedJson number_schema(const Quantity& quantity) {
  OrderedJson range = {{"type", "number"}, {"minimum", quantity.least}, {"maximum", quantity.most}};
  if (!quantity.may_be_zero) return range;
  if (quantity.least == 0) return range;
  range.erase("type");
  return {{"type", "number"}, {"anyOf", {{{"const", 0}}, range}}};
}

class Schema final : public model::ParameterVisitor {
 public:
  Schema() { begin_object(); }

  void text(const Key& key, std::string&) override {
    add(key, {{"type", "string"}, {"pattern", R"(^[^\u0000-\u001f\u007f-\u009f]*$)"}});
  }
  void flag(const Key& key, bool&) override { add(key, {{"type", "boolean"}}); }
  void number(const Key& key, double&, const Quantity& quantity) override {
    add(key, number_schema(quantity));
  }
  void whole(const Key& key, int&, int least) override { add(key, whole_schema(least)); }
  void whole(const Key& key, std::int64_t&) override {
    add(key, {{"type", "integer"}, {"minimum", 0}});
  }
  void texts(const Key& key, std::vector<std::string>&) override {
    add(key, {{"type", "array"}, {"items", {{"type", "string"}}}});
  }
  void numbers(const Key& key, std::vector<double>&, const Quantity& quantity) override {
    add(key, {{"type", "array"}, {"items", number_schema(quantity)}});
  }
  void counts(const Key& key, std::vector<int>&) override {
    add(key, {{"type", "array"}, {"minItems", 1}, {"items", whole_schema(1)}});
  }
  void word(const Key& key, const FamilyBase& family, std::size_t&) override {
    add(key, {{"enum", family.names()}});
  }
  void choose(const Key& key, const FamilyBase& family, std::size_t,
              const std::function<void(std::size_t)>& describe) override {
    for (std::size_t k = 0; k < family.size(); ++k) {
      begin_object();
      add(key, {{"const", *family.info(k).name}});
      describe(k);
      OrderedJson alternative = std::move(open_.back().schema);
      open_.pop_back();
      open_.back().alternatives.push_back(std::move(alternative));
    }
  }
  bool enters(const Key&, bool) override { return true; }
  void begin(const Key& key) override {
    begin_object();
    open_.back().key = key;
  }
  void end() override {
    const Open done = std::move(open_.back());
    open_.pop_back();
    if (in_list_) {
      element_ = done.schema;
    } else {
      add(done.key, closed(done));
    }
  }
  std::size_t begin_list(const Key& key, std::size_t) override {
    in_list_ = true;
    list_ = key;
    return 1;
  }
  void begin_element(std::size_t) override { begin_object(); }
  void end_list() override {
    in_list_ = false;
    add(list_, {{"type", "array"}, {"items", element_}});
  }

  OrderedJson take() { return std::move(open_.front().schema); }

 private:
  struct Open {
    Key key;
    OrderedJson schema;
    std::vector<OrderedJson> alternatives;
  };

  static OrderedJson whole_schema(int least) {
    return {{"type", "integer"}, {"minimum", least}, {"maximum", model::most_count}};
  }
  void begin_object() {
    open_.push_back({{"", ""},
                     {{"type", "object"},
                      {"additionalProperties", false},
                      {"required", OrderedJson::array()},
                      {"properties", OrderedJson::object()}},
                     {}});
  }
  void add(const Key& key, OrderedJson schema) {
    schema["description"] = key.meaning;
    OrderedJson& parent = open_.back().schema;
    if (key.needed) parent["required"].push_back(key.name);
    parent["properties"][key.name] = std::move(schema);
  }
  /// The object; where it has alternatives, one of these, each with what is common to all.
  static OrderedJson closed(const Open& open) {
    if (open.alternatives.empty()) return open.schema;
    OrderedJson all = {{"type", "object"}, {"oneOf", OrderedJson::array()}};
    for (OrderedJson alternative : open.alternatives) {
      alternative["properties"].update(open.schema["properties"]);
      alternative.erase("type");
      all["oneOf"].push_back(std::move(alternative));
    }
    return all;
  }

  std::vector<Open> open_;
  bool in_list_ = false;  // lists are not nested
  Key list_ = {"", ""};
  OrderedJson element_;
};

/// Rows of the table of keys; those of all localities, and of all protocols, once.
class Rows final : public model::ParameterVisitor {
 public:
  void text(const Key& key, std::string&) override { add(key, "text"); }
  void flag(const Key& key, bool&) override { add(key, "true or false"); }
  void number(const Key& key, double&, const Quantity& quantity) override {
    add(key, range(quantity));
  }
  void whole(const Key& key, int&, int least) override {
    add(key, fmt::format("whole, from {}", least));
  }
  void whole(const Key& key, std::int64_t&) override { add(key, "whole, from 0, bytes"); }
  void texts(const Key& key, std::vector<std::string>&) override { add(key, "list of texts"); }
  void numbers(const Key& key, std::vector<double>&, const Quantity& quantity) override {
    add(key, "list of " + range(quantity));
  }
  void counts(const Key& key, std::vector<int>&) override { add(key, "list of whole, from 1"); }
  void word(const Key& key, const FamilyBase& family, std::size_t&) override {
    add(key, fmt::format("{}", fmt::join(family.names(), ", ")));
  }
  void choose(const Key& key, const FamilyBase& family, std::size_t,
              const std::function<void(std::size_t)>& describe) override {
    add(key, fmt::format("{}", fmt::join(family.names(), ", ")));
    for (std::size_t k = 0; k < family.size(); ++k) describe(k);
  }
  bool enters(const Key& key, bool) override {
    return key.alike == nullptr || !is_known(place_of(key));
  }
  void begin(const Key& key) override {
    add(key, "object");
    places_.push_back(place_of(key));
  }
  void end() override { places_.pop_back(); }
  std::size_t begin_list(const Key& key, std::size_t) override {
    add(key, "list of objects");
    places_.push_back(place_of(key) + "[]");
    return 1;
  }
  void begin_element(std::size_t) override { places_.push_back(places_.back()); }
  void end_list() override { places_.pop_back(); }

  std::string take() { return std::move(rows_); }

 private:
  static std::string range(const Quantity& q) {
    return fmt::format("{}{} to {}{}{}", q.may_be_zero && q.least > 0 ? "0, or " : "", q.least,
                       q.most, *q.unit != '\0' ? " " : "", q.unit);
  }
  std::string place_of(const Key& key) const {
    const char* name = key.alike != nullptr ? key.alike : key.name;
    return places_.empty() ? name : places_.back() + "." + name;
  }
  bool is_known(const std::string& place) const {
    return rows_.find("| `" + place + "`") != std::string::npos;
  }
  void add(const Key& key, const std::string& values) {
    const std::string place = place_of(key);
    if (is_known(place) && key.alike != nullptr) return;
    rows_ +=
        fmt::format("| `{}`{} | {} | {} |\n", place,
                    key.needed || key.alike != nullptr ? "" : ", optional", values, key.meaning);
  }

  std::vector<std::string> places_;
  std::string rows_;
};

}  // namespace

std::string machine_schema() {
  model::Machine machine;
  Schema schema;
  visit_parameters(schema, machine);
  OrderedJson properties = schema.take();
  OrderedJson json = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                      {"title", "Machine file of Nodewise"},
                      {"description", "Described in machines.md."}};
  json.update(properties);
  json["required"].push_back("schema_version");
  json["properties"]["$schema"] = {{"type", "string"}};
  json["properties"]["schema_version"] = {{"const", 1}};
  // What values must be together.
  json["properties"]["name"]["minLength"] = 1;
  OrderedJson& protocols = json["properties"]["protocols"]["properties"];
  protocols["other_node"]["minProperties"] = 1;
  for (int l = 0; l < model::n_localities; ++l) {
    OrderedJson protocol = OrderedJson::array();
    for (int p = 0; p < model::n_protocols; ++p) {
      protocol.push_back({{"required", {to_string(static_cast<model::Protocol>(p))}}});
    }
    protocols[to_string(static_cast<model::Locality>(l))]["dependencies"] = {
        {"switch_sizes", {{"anyOf", protocol}}}};
  }
  json["properties"]["allreduce"]["anyOf"] = {{{"required", {"mpi"}}},
                                              {{"required", {"node_aware"}}}};
  return json.dump(2) + "\n";
}

std::string machine_keys() {
  model::Machine machine;
  Rows rows;
  visit_parameters(rows, machine);
  return "| Key | Value | Meaning |\n| --- | --- | --- |\n| `schema_version` | 1 | of the file "
         "|\n" +
         rows.take();
}

}  // namespace nodewise::io
