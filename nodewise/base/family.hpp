// Families of methods that describe themselves: a list of descriptors, and the choice of one.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nodewise/base/error.hpp"
#include "nodewise/base/option_set.hpp"

namespace nodewise {

/// Something that a descriptor has to say: without it the descriptor does not compile.
template <class T>
class Required {
 public:
  template <class U>
  requires std::is_convertible_v<U, T> Required(U value)  // NOLINT(google-explicit-constructor)
      : value_(std::move(value)) {}
  operator const T&() const { return value_; }  // NOLINT(google-explicit-constructor)
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }

 private:
  T value_;
};

/// Makes the options that are a method's own, with their defaults.
using MakeOptions = std::function<std::unique_ptr<OptionSet>()>;

/// The options of a method that has none.
inline std::unique_ptr<OptionSet> no_options() {
  return nullptr;
}

/// The options of a method as a struct and its table, which must live as long as the program.
template <class S>
MakeOptions own_options(std::span<const Field<S>> (*fields)()) {
  return [fields] { return std::make_unique<OwnOptions<S>>(fields()); };
}

/// What every method says of itself. Descriptors of a family derive from it.
struct MethodInfo {
  Required<std::string> name;     ///< snake_case
  Required<std::string> summary;  ///< one line of help
  Required<std::string> source;   ///< paper and section; "" where there is none to name
  MakeOptions options = no_options;
  /// What it wants of options that are not its own, by their flat names; given otherwise they are
  /// refused on the command line, and replaced in the library.
  std::vector<NamedValue> fixes = {};
  /// Other options that are not its own and have no effect beside it, with those of their values
  /// that have one all the same.
  std::vector<std::pair<std::string, std::vector<std::string>>> ignores = {};

  /// Whether an option that is not its own has no effect beside it, where it has that value.
  bool overrules(std::string_view option, std::string_view value) const;
};

/// What is the same for all families.
class FamilyBase {
 public:
  /// What a member is called, such as "smoother".
  const std::string& kind() const { return kind_; }
  /// The word for leaving the choice to the library, and what it means; empty where it is not left.
  const Word& automatic() const { return automatic_; }
  /// The words that choose a member: the names, and that for leaving the choice where there is one.
  std::vector<Word> words() const;
  std::vector<std::string> names() const;
  std::size_t size() const { return members_.size(); }
  const MethodInfo& info(std::size_t k) const { return *members_[k]; }
  /// "smoother jacobi or chebyshev", of those that are wanted.
  std::string some(const std::function<bool(const MethodInfo&)>& wanted) const;
  /// Throws invalid_argument with the nearest name where there is none such.
  std::size_t index_of(std::string_view name) const;

 protected:
  FamilyBase(std::string kind, Word automatic)
      : kind_(std::move(kind)), automatic_(std::move(automatic)) {}
  ~FamilyBase() = default;
  FamilyBase(const FamilyBase&) = delete;
  FamilyBase& operator=(const FamilyBase&) = delete;
  /// Throws invalid_argument where the name is taken, or is no lower-case word of letters, digits
  /// and underscores.
  void append(const MethodInfo& member);

 private:
  std::string kind_;
  Word automatic_;
  std::vector<const MethodInfo*> members_;
};

/// The methods of one kind, in the order of help and reports. D derives from MethodInfo and has a
/// static function family(), which the list of its methods (a file methods.cpp) defines.
template <class D>
class Family final : public FamilyBase {
 public:
  Family(std::string kind, std::initializer_list<const D*> members, Word automatic = {})
      : FamilyBase(std::move(kind), std::move(automatic)) {
    for (const D* member : members) append(*member);
  }
  /// Local. Adds a caller's own method, which must outlive every use of it; the same on every rank,
  /// before anything chooses it. Not to be called while other threads use the family.
  void add(const D& member) { append(member); }
  const D& operator[](std::size_t k) const { return static_cast<const D&>(info(k)); }
  /// Throws invalid_argument with the nearest name where there is none such.
  const D& find(std::string_view name) const { return (*this)[index_of(name)]; }

  class Iterator {
   public:
    Iterator(const Family& family, std::size_t k) : family_(&family), k_(k) {}
    const D& operator*() const { return (*family_)[k_]; }
    Iterator& operator++() {
      ++k_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.k_ == b.k_; }

   private:
    const Family* family_;
    std::size_t k_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
};

/// One method of the family of D, by its name or its descriptor, with the options that are its own;
/// or the wish that the library choose one, where the family knows that.
template <class D>
class Choice {
 public:
  /// The first of the family.
  Choice() : Choice(D::family()[0]) {}
  Choice(const char* name) : Choice(std::string_view(name)) {}         // NOLINT
  Choice(const std::string& name) : Choice(std::string_view(name)) {}  // NOLINT
  /// Throws invalid_argument, with the nearest name, where the family has none such.
  Choice(std::string_view name) {  // NOLINT
    const Family<D>& family = D::family();
    if (!family.automatic().name.empty() && name == family.automatic().name) return;
    *this = Choice(family.find(name));
  }
  Choice(const D& method) : method_(&method), own_(method.options()) {}  // NOLINT
  Choice(const Choice& other)
      : method_(other.method_), own_(other.own_ ? other.own_->clone() : nullptr) {}
  Choice(Choice&&) noexcept = default;
  Choice& operator=(Choice other) noexcept {
    method_ = other.method_;
    own_ = std::move(other.own_);
    return *this;
  }
  ~Choice() = default;

  bool is_automatic() const { return method_ == nullptr; }
  const D& operator*() const { return method(); }
  const D* operator->() const { return &method(); }
  /// The method's name, or the family's word for leaving the choice to the library.
  const std::string& name() const {
    return method_ ? static_cast<const std::string&>(method_->name) : D::family().automatic().name;
  }
  /// The options that are the method's own. Throws internal where it has no such struct.
  template <class S>
  S& options() {
    return held<S>().options();
  }
  template <class S>
  const S& options() const {
    return const_cast<Choice*>(this)->held<S>().options();
  }
  template <class S>
  bool has_options() const {
    return dynamic_cast<const OwnOptions<S>*>(own_.get()) != nullptr;
  }
  OptionSet* own() { return own_.get(); }
  const OptionSet* own() const { return own_.get(); }
  /// Takes another method of the family; options that both have keep their values.
  void choose(std::string_view name) {
    Choice chosen(name);
    if (own_ && chosen.own_) copy_common(*own_, *chosen.own_);
    *this = std::move(chosen);
  }

  /// Whether both are the same method, with the same options.
  friend bool operator==(const Choice& a, const Choice& b) {
    if (a.method_ != b.method_) return false;
    return !a.own_ || hash_of(*a.own_) == hash_of(*b.own_);
  }
  /// Whether it is the method of that name, whatever its options. Throws as the constructor does.
  friend bool operator==(const Choice& a, std::string_view name) {
    return Choice(name).method_ == a.method_;
  }
  friend bool operator==(const Choice& a, const char* name) { return a == std::string_view(name); }

 private:
  const D& method() const {
    if (method_ != nullptr) return *method_;
    throw Error(ErrorCode::internal, "a " + D::family().kind() + " is used before it was chosen");
  }
  template <class S>
  OwnOptions<S>& held() {
    if (auto* held = dynamic_cast<OwnOptions<S>*>(own_.get())) return *held;
    throw Error(ErrorCode::internal, D::family().kind() + " " + name() + " has no such options");
  }
  static void copy_common(const OptionSet& from, OptionSet& to);

  const D* method_ = nullptr;
  std::unique_ptr<OptionSet> own_;
};

namespace detail {
void copy_common_options(const OptionSet& from, OptionSet& to);
}  // namespace detail

template <class D>
void Choice<D>::copy_common(const OptionSet& from, OptionSet& to) {
  detail::copy_common_options(from, to);
}

/// A field that chooses a method. The fields of the method's own options follow it in every
/// configuration.
template <class S, class D>
Field<S> field(const std::string& name, Choice<D> S::*member, const std::string& meaning) {
  const FamilyBase& family = D::family();
  Field<S> f;
  f.name = name;
  f.type = "choice";
  f.meaning = meaning;
  f.family = &family;
  f.get = [member](const S& s) { return (s.*member).name(); };
  f.set = [name, member](S& s, std::string_view text) {
    detail::parse_choice(name, text, D::family().words());
    (s.*member).choose(text);
  };
  f.own = [member](S& s) { return (s.*member).own(); };
  return f;
}

}  // namespace nodewise
