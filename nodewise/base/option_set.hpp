// Options as a tree: a struct of options and its table of fields, with the types erased. A field
// that chooses a method leads to the options that are that method's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nodewise/base/options.hpp"

namespace nodewise {

/// A struct of options by the names of its fields.
class OptionSet {
 public:
  virtual ~OptionSet() = default;
  virtual std::size_t size() const = 0;
  virtual const FieldInfo& info(std::size_t k) const = 0;
  virtual std::string get(std::size_t k) const = 0;
  virtual void set(std::size_t k, std::string_view text) = 0;
  /// Whether the other options of the struct let this one have an effect.
  virtual bool is_met(std::size_t k) const = 0;
  /// The options of the method that field k chooses; null where it chooses none, or one without.
  virtual OptionSet* own(std::size_t k) = 0;
  const OptionSet* own(std::size_t k) const { return const_cast<OptionSet*>(this)->own(k); }
  virtual std::unique_ptr<OptionSet> clone() const = 0;
  /// Whether it is the same struct with the same table.
  virtual bool has_table(const void* fields) const = 0;
};

/// The options of S, held here.
template <class S>
class OwnOptions final : public OptionSet {
 public:
  explicit OwnOptions(std::span<const Field<S>> fields, S options = {})
      : fields_(fields), options_(std::move(options)) {}
  std::size_t size() const override { return fields_.size(); }
  const FieldInfo& info(std::size_t k) const override { return fields_[k]; }
  std::string get(std::size_t k) const override { return fields_[k].get(options_); }
  void set(std::size_t k, std::string_view text) override { fields_[k].set(options_, text); }
  bool is_met(std::size_t k) const override {
    return !fields_[k].is_met || fields_[k].is_met(options_);
  }
  OptionSet* own(std::size_t k) override {
    return fields_[k].own ? fields_[k].own(options_) : nullptr;
  }
  std::unique_ptr<OptionSet> clone() const override { return std::make_unique<OwnOptions>(*this); }
  bool has_table(const void* fields) const override { return fields_.data() == fields; }
  S& options() { return options_; }
  const S& options() const { return options_; }

 private:
  std::span<const Field<S>> fields_;
  S options_;
};

/// The options of S, held by the caller for as long as this is in use.
template <class S>
class OptionView final : public OptionSet {
 public:
  OptionView(std::span<const Field<S>> fields, S& options) : fields_(fields), options_(options) {}
  std::size_t size() const override { return fields_.size(); }
  const FieldInfo& info(std::size_t k) const override { return fields_[k]; }
  std::string get(std::size_t k) const override { return fields_[k].get(options_); }
  void set(std::size_t k, std::string_view text) override { fields_[k].set(options_, text); }
  bool is_met(std::size_t k) const override {
    return !fields_[k].is_met || fields_[k].is_met(options_);
  }
  OptionSet* own(std::size_t k) override {
    return fields_[k].own ? fields_[k].own(options_) : nullptr;
  }
  std::unique_ptr<OptionSet> clone() const override {
    return std::make_unique<OwnOptions<S>>(fields_, options_);
  }
  bool has_table(const void* fields) const override { return fields_.data() == fields; }

 private:
  std::span<const Field<S>> fields_;
  S& options_;
};

/// Calls visit(set, k) for every field of a configuration: those of the struct in their order, each
/// followed by the fields that are its method's own.
void visit_fields(OptionSet& options, const std::function<void(OptionSet&, std::size_t)>& visit);
void visit_fields(const OptionSet& options,
                  const std::function<void(const OptionSet&, std::size_t)>& visit);

/// Sets the field called `name` (snake_case) of a configuration. Throws invalid_argument, naming
/// the range, where the value is outside or where the option belongs to a method that the
/// configuration does not name; unknown_option with the nearest name where there is none.
void set_option(OptionSet& options, std::string_view name, std::string_view value);

/// The value of a field of a configuration as text. Throws as set_option() does.
std::string get_option(const OptionSet& options, std::string_view name);

/// Returns what a configuration lacks for the option to have an effect, such as "smoother
/// chebyshev", "aggressive_levels above 0" or "cycle v or w"; empty where it lacks nothing. What
/// only the matrix, the ranks or the machine decide is not looked at. Throws unknown_option where
/// no method has the option.
std::string needed_by(const OptionSet& options, std::string_view name);

/// Whether a configuration has a field of that name.
bool has_option(const OptionSet& options, std::string_view name);

/// The name of a field, and a value as text.
using NamedValue = std::pair<std::string, std::string>;

/// Sets several fields: choices of methods first, whatever their order, then the options that
/// belong to these. Throws as set_option() does.
void set_options(OptionSet& options, std::span<const NamedValue> values);

/// The same, but returns those that the configuration has no field for instead of throwing.
std::vector<NamedValue> set_options_there(OptionSet& options, std::span<const NamedValue> values);

/// One field of a struct or of any method that may be chosen in it.
struct KnownField {
  /// A method that has it.
  struct Owner {
    std::string kind;  ///< of its family: "smoother"
    std::string name;
  };

  FieldInfo info;
  std::string standard;       ///< the default as text
  std::vector<Owner> owners;  ///< none for a field of the struct
  /// Throws invalid_argument, naming the range, where a value is outside.
  std::function<void(std::string_view)> check;

  /// "smoother jacobi or block_jacobi", with `prefix` before the name of a family.
  std::string owners_text(std::string_view prefix = "") const;
};
/// Every field that some configuration has, each once, in the order of the tables.
std::vector<KnownField> known_fields(const OptionSet& defaults);

/// A number that is the same for equal configurations, and with overwhelming probability another
/// for others.
std::uint64_t hash_of(const OptionSet& options);

/// Throws invalid_argument where a value is outside its range.
void check_options(const OptionSet& options);

template <class S>
OptionView<S> view(S& options, std::span<const Field<S>> fields) {
  return OptionView<S>(fields, options);
}

template <class S>
void check_options(const S& options, std::span<const Field<S>> fields) {
  S copy = options;
  check_options(view(copy, fields));
}

template <class S>
std::uint64_t hash_of(const S& options, std::span<const Field<S>> fields) {
  S copy = options;
  return hash_of(view(copy, fields));
}

template <class S>
void set_option(S& options, std::span<const Field<S>> fields, std::string_view name,
                std::string_view value) {
  OptionView<S> set(fields, options);
  set_option(set, name, value);
}

}  // namespace nodewise
