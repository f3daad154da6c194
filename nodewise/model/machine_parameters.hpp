// The one table of a machine's parameters: what reads, writes, checks and documents machine files
// goes through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// What a number may be, beside 0 where that is allowed.
struct Quantity {
  const char* unit;    ///< "" for a plain number
  double least, most;  ///< finite
  const char* must;    ///< why others are refused: "a rate must be positive"
  bool may_be_zero = false;
};

inline constexpr Quantity a_rate = {"bytes/s", 1, 1e18, "a rate must be positive and finite"};
inline constexpr Quantity a_time = {"s", 1e-24, 1e6, "a time must be finite and not negative",
                                    true};
inline constexpr Quantity a_positive_time = {"s", 1e-24, 1e6,
                                             "this time must be finite and positive"};
inline constexpr Quantity a_size = {"bytes", 1, 1e18, "a size must be finite and positive"};
inline constexpr Quantity a_number = {"", 1e-9, 1e18, "it must be from 1e-9 to 1e18"};
inline constexpr Quantity a_part = {"", 0, 1, "a part is between 0 and 1", true};

/// The key of a value in a machine file.
struct Key {
  const char* name;
  const char* meaning;
  bool needed = true;
  /// Such as "L" for the keys of all localities, which mean alike; null where a key stands alone.
  const char* alike = nullptr;
  /// Whether no prediction takes what the key holds; null: predictions take it.
  bool (*is_unused)(const Machine& machine) = nullptr;

  Key optional() const { return {name, meaning, false, alike, is_unused}; }
  Key unused(bool (*where)(const Machine& machine)) const {
    return {name, meaning, needed, alike, where};
  }
};

/// Goes through the parameters of a machine. A pass may read a value, or set it.
class ParameterVisitor {
 public:
  virtual ~ParameterVisitor() = default;

  virtual void text(const Key& key, std::string& value) = 0;
  virtual void flag(const Key& key, bool& value) = 0;
  /// Infinite: not known or not limited, where the key is optional.
  virtual void number(const Key& key, double& value, const Quantity& quantity) = 0;
  /// From `least` to most_count.
  virtual void whole(const Key& key, int& value, int least) = 0;
  virtual void whole(const Key& key, std::int64_t& value) = 0;  ///< not negative
  virtual void texts(const Key& key, std::vector<std::string>& values) = 0;
  virtual void numbers(const Key& key, std::vector<double>& values, const Quantity& quantity) = 0;
  virtual void counts(const Key& key, std::vector<int>& values) = 0;

  /// The name of a member of a family that has no parameters, of which k is there.
  virtual void word(const Key& key, const FamilyBase& family, std::size_t& k) = 0;
  /// The name of a member of a family, of which k is there: calls describe(k) for the one that is
  /// to be gone through, or for each.
  virtual void choose(const Key& key, const FamilyBase& family, std::size_t k,
                      const std::function<void(std::size_t)>& describe) = 0;

  /// Whether to go into what the key holds, of which the machine has something or not.
  virtual bool enters(const Key& key, bool has_some) = 0;
  virtual void begin(const Key& key) = 0;  ///< an object
  virtual void end() = 0;
  /// A list of objects; returns how many to go through.
  virtual std::size_t begin_list(const Key& key, std::size_t size) = 0;
  virtual void begin_element(std::size_t k) = 0;  ///< up to end()
  virtual void end_list() = 0;

  void count(const Key& key, int& value) { whole(key, value, 1); }
  void number(const Key& key, std::optional<double>& value, const Quantity& quantity) {
    if (!enters(key, value.has_value())) return;
    if (!value) value.emplace();
    number(key, *value, quantity);
  }
  template <class D>
  void word(const Key& key, Choice<D>& value) {
    const bool is_other = value.name() != *D::family().info(0).name;
    if (!enters(key, is_other)) return;
    std::size_t k = D::family().index_of(value.name());
    word(key, D::family(), k);
    value = D::family()[k];
  }
  template <class Describe>
  void group(const Key& key, const Describe& describe) {
    begin(key);
    describe();
    end();
  }
  template <class S>
  void object(const Key& key, S& value, void (*describe)(ParameterVisitor&, S&)) {
    group(key, [&] { describe(*this, value); });
  }
  template <class S>
  void object(const Key& key, std::optional<S>& value, void (*describe)(ParameterVisitor&, S&)) {
    if (!enters(key, value.has_value())) return;
    if (!value) value.emplace();
    object(key, *value, describe);
  }
  template <class S>
  void list(const Key& key, std::vector<S>& values, void (*describe)(ParameterVisitor&, S&)) {
    if (!enters(key, !values.empty())) return;
    values.resize(begin_list(key, values.size()));
    for (std::size_t k = 0; k < values.size(); ++k) {
      begin_element(k);
      describe(*this, values[k]);
      end();
    }
    end_list();
  }
};

inline constexpr int most_count = 1'000'000'000;

/// Local. Visits every parameter, in the order of a machine file.
void visit_parameters(ParameterVisitor& visitor, Machine& machine);

}  // namespace nodewise::model
