// What a machine must be for the formulas to make sense of it.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/model/machine_parameters.hpp"

namespace nodewise::model {

namespace {

template <class T>
[[noreturn]] void refuse_machine(std::string_view where, T value, std::string_view must) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} is {}; {}", where, value, must));
}

/// Whether a terminal would act on the text instead of showing it: control characters of ASCII, or
/// of ISO 6429 in UTF-8.
bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    const bool is_lead = byte == 0xc2 && i + 1 < text.size();
    if (is_lead && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

/// Every value by itself. Comparisons are written so that NaN fails them.
class Check final : public ParameterVisitor {
 public:
  void text(const Key& key, std::string& value) override {
    if (!has_control(value)) return;
    throw Error(ErrorCode::invalid_argument, place_of(key) + " has control characters");
  }
  void flag(const Key& /*key*/, bool& /*value*/) override {}
  void number(const Key& key, double& value, const Quantity& quantity) override {
    if (std::isinf(value) && value > 0 && !key.needed) return;
    check(place_of(key), value, quantity);
  }
  void whole(const Key& key, int& value, int least) override {
    check_whole(place_of(key), value, least);
  }
  void whole(const Key& key, std::int64_t& value) override {
    if (value < 0) refuse_machine(place_of(key), value, "a size must not be negative");
  }
  void texts(const Key& key, std::vector<std::string>& values) override {
    for (std::string& value : values) text(key, value);
  }
  void numbers(const Key& key, std::vector<double>& values, const Quantity& quantity) override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      check(fmt::format("{}[{}]", place_of(key), i), values[i], quantity);
    }
  }
  void counts(const Key& key, std::vector<int>& values) override {
    if (values.empty()) {
      throw Error(ErrorCode::invalid_argument, place_of(key) + " is empty; it must have some");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      check_whole(fmt::format("{}[{}]", place_of(key), i), values[i], 1);
    }
  }
  void word(const Key& /*key*/, const FamilyBase& /*family*/, std::size_t& /*k*/) override {}
  void choose(const Key& /*key*/, const FamilyBase& /*family*/, std::size_t k,
              const std::function<void(std::size_t)>& describe) override {
    describe(k);
  }
  bool enters(const Key& /*key*/, bool has_some) override { return has_some; }
  void begin(const Key& key) override { places_.push_back(place_of(key)); }
  void end() override { places_.pop_back(); }
  std::size_t begin_list(const Key& key, std::size_t size) override {
    lists_.push_back(place_of(key));
    return size;
  }
  void begin_element(std::size_t k) override {
    places_.push_back(fmt::format("{}[{}]", lists_.back(), k));
  }
  void end_list() override { lists_.pop_back(); }

 private:
  std::string place_of(const Key& key) const {
    return places_.empty() ? key.name : places_.back() + "." + key.name;
  }
  static void check(const std::string& where, double value, const Quantity& quantity) {
    const bool has_sign = value > 0 || (quantity.may_be_zero && value == 0);
    if (!has_sign || std::isinf(value)) refuse_machine(where, value, quantity.must);
    if (value == 0 || (value >= quantity.least && value <= quantity.most)) return;
    if (*quantity.unit == '\0') refuse_machine(where, value, quantity.must);
    refuse_machine(
        where, value,
        fmt::format("only {} to {} {} make sense", quantity.least, quantity.most, quantity.unit));
  }
  static void check_whole(const std::string& where, int value, int least) {
    if (value < least)
      refuse_machine(where, value, fmt::format("a count must be at least {}", least));
    if (value > most_count)
      refuse_machine(where, value, fmt::format("at most {} make sense", most_count));
  }

  std::vector<std::string> places_, lists_;
};

// What values must be together.

void check_eager(const std::string& where, const SwitchSizes& sizes) {
  if (sizes.eager_bytes >= sizes.short_bytes) return;
  refuse_machine(where + ".eager_bytes", sizes.eager_bytes,
                 fmt::format("it must not be below short_bytes, {}", sizes.short_bytes));
}

void check_protocols(const Machine& machine) {
  check_eager("protocols.switch_sizes", machine.switch_sizes);
  for (int l = 0; l < n_localities; ++l) {
    const auto locality = static_cast<Locality>(l);
    const std::string where = fmt::format("protocols.{}", to_string(locality));
    const PathParameters& path = machine.path(locality);
    const bool is_known =
        std::any_of(path.begin(), path.end(), [](const auto& set) { return set.has_value(); });
    const auto& own = machine.own_switch_sizes[static_cast<std::size_t>(l)];
    if (own) check_eager(where + ".switch_sizes", *own);
    if (own && !is_known) {
      throw Error(ErrorCode::invalid_argument,
                  where + ".switch_sizes is there, but no protocol it would choose");
    }
    if (locality == Locality::other_node && !is_known) {
      throw Error(ErrorCode::invalid_argument,
                  where + " is empty; it must have at least one protocol");
    }
  }
}

/// Refuses members of a list that do not ascend.
template <class S, class T>
void check_ascending(std::string_view where, const std::vector<S>& list, T S::*member,
                     std::string_view name, std::string_view must) {
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (list[i].*member > list[i - 1].*member) continue;
    refuse_machine(fmt::format("{}[{}].{}", where, i, name), list[i].*member, must);
  }
}

void check_lists(const Machine& machine) {
  check_ascending("computation.s_per_flop_by_size", machine.s_per_flop_by_size,
                  &FlopCost::up_to_nonzeros, "up_to_nonzeros", "sizes must be positive and ascend");
  check_ascending("computation.thread_bandwidth", machine.thread_bandwidth,
                  &ThreadBandwidth::threads, "threads",
                  "numbers of threads must be positive and ascend");
  constexpr std::string_view sizes = "sizes must be finite, positive and ascend";
  check_ascending("progress", machine.progress, &Progress::bytes, "bytes", sizes);
  if (!machine.allreduces) return;
  const MeasuredAllreduces& measured = *machine.allreduces;
  check_ascending("allreduce.mpi", measured.mpi, &AllreduceTime::bytes, "bytes", sizes);
  check_ascending("allreduce.node_aware", measured.node_aware, &AllreduceTime::bytes, "bytes",
                  sizes);
  if (measured.nodes > measured.ranks) {
    refuse_machine("allreduce.nodes", measured.nodes,
                   fmt::format("there cannot be more than ranks, {}", measured.ranks));
  }
  if (measured.mpi.empty() && measured.node_aware.empty()) {
    throw Error(ErrorCode::invalid_argument, "allreduce is there, but no time of any algorithm");
  }
}

}  // namespace

void check(const Machine& machine) {
  if (machine.name.empty()) throw Error(ErrorCode::invalid_argument, "name is empty");
  Machine copy = machine;
  Check values;
  visit_parameters(values, copy);
  check_protocols(machine);
  check_lists(machine);
}

}  // namespace nodewise::model
