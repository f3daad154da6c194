#include "nodewise/model/unused_parameters.hpp"

#include "nodewise/model/machine_parameters.hpp"

namespace nodewise::model {

namespace {

/// Collects keys that say so of themselves.
class UnusedKeys final : public ParameterVisitor {
 public:
  explicit UnusedKeys(const Machine& machine) : machine_(machine) {}

  void text(const Key& /*key*/, std::string& /*value*/) override {}
  void flag(const Key& /*key*/, bool& /*value*/) override {}
  void number(const Key& key, double& value, const Quantity& /*quantity*/) override {
    visit(key, value != 0);
  }
  void whole(const Key& /*key*/, int& /*value*/, int /*least*/) override {}
  void whole(const Key& /*key*/, std::int64_t& /*value*/) override {}
  void texts(const Key& /*key*/, std::vector<std::string>& /*values*/) override {}
  void numbers(const Key& key, std::vector<double>& values, const Quantity& /*quantity*/) override {
    visit(key, !values.empty());
  }
  void counts(const Key& /*key*/, std::vector<int>& /*values*/) override {}
  void word(const Key& /*key*/, const FamilyBase& /*family*/, std::size_t& /*k*/) override {}
  void choose(const Key& /*key*/, const FamilyBase& /*family*/, std::size_t k,
              const std::function<void(std::size_t)>& describe) override {
    describe(k);
  }
  bool enters(const Key& key, bool has_some) override { return visit(key, has_some) && has_some; }
  void begin(const Key& key) override { places_.push_back(place_of(key)); }
  void end() override { places_.pop_back(); }
  std::size_t begin_list(const Key& key, std::size_t size) override {
    begin(key);
    return size;
  }
  void begin_element(std::size_t /*k*/) override { places_.push_back(places_.back()); }
  void end_list() override { end(); }

  std::vector<std::string> take() { return std::move(unused_); }

 private:
  std::string place_of(const Key& key) const {
    return places_.empty() ? key.name : places_.back() + "." + key.name;
  }
  /// Whether to go on with what the key holds.
  bool visit(const Key& key, bool has_some) {
    if (key.is_unused == nullptr || !key.is_unused(machine_)) return true;
    const bool is_new = unused_.empty() || unused_.back() != place_of(key);
    if (has_some && is_new) unused_.push_back(place_of(key));
    return false;
  }

  const Machine& machine_;
  std::vector<std::string> places_, unused_;
};

}  // namespace

std::vector<std::string> unused_parameters(const Machine& machine) {
  Machine copy = machine;
  UnusedKeys keys(machine);
  visit_parameters(keys, copy);
  return keys.take();
}

}  // namespace nodewise::model
