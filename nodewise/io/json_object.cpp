#include "nodewise/io/json_object.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nodewise/base/error.hpp"
#include "nodewise/base/options.hpp"

namespace nodewise::io {

namespace {

[[noreturn]] void refuse_at(const std::string& place, const std::string& what) {
  throw Error(ErrorCode::file_format, place.empty() ? what : place + " " + what);
}

/// A value as a message shows it: all of a short one.
template <class Json>
std::string shown(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t most = 60;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

template <class Json>
[[noreturn]] void refuse_value(const std::string& place, const Json& value, std::string_view must) {
  refuse_at(place, fmt::format("is {}; {}", shown(value), must));
}

template <class Json>
double number_of(const Json& value, const std::string& place) {
  if (!value.is_number()) refuse_value(place, value, "it must be a number");
  return value.template get<double>();
}

template <class Int, class Json>
Int whole_of(const Json& value, const std::string& place) {
  if (!value.is_number_integer()) refuse_value(place, value, "it must be a whole number");
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<Int>(value.template get<std::uint64_t>())
                        : std::in_range<Int>(value.template get<std::int64_t>());
  if (!fits) refuse_value(place, value, fmt::format("it must fit {} bits", 8 * sizeof(Int)));
  return value.template get<Int>();
}

template <class Json>
std::string text_of(const Json& value, const std::string& place) {
  if (!value.is_string()) refuse_value(place, value, "it must be a text");
  return value.template get<std::string>();
}

}  // namespace

template <class Json>
JsonObject<Json>::JsonObject(const Json& json, std::string place)
    : json_(&json), place_(std::move(place)) {
  if (!json.is_object()) {
    refuse_value(place_.empty() ? "the document" : place_, json, "it must be an object, {...}");
  }
}

template <class Json>
std::string JsonObject<Json>::place_of(const std::string& key) const {
  return place_.empty() ? key : place_ + "." + key;
}

template <class Json>
bool JsonObject<Json>::has(const std::string& key) {
  known_.push_back(key);
  return json_->contains(key);
}

template <class Json>
const Json& JsonObject<Json>::require(const std::string& key) {
  if (!has(key)) {
    // A key that is nearly this one says more than that this one is missing.
    for (const auto& item : json_->items()) {
      const std::vector<std::string> wanted = {key};
      if (std::find(known_.begin(), known_.end(), item.key()) == known_.end() &&
          nearest_name(item.key(), wanted) == 0) {
        refuse_at(place_of(key), fmt::format("is missing; there is '{}' instead", item.key()));
      }
    }
    refuse_at(place_of(key), "is missing");
  }
  return (*json_)[key];
}

template <class Json>
void JsonObject<Json>::refuse(const std::string& key, std::string_view must) const {
  refuse_value(place_of(key), (*json_)[key], must);
}

template <class Json>
double JsonObject<Json>::number(const std::string& key) {
  return number_of(require(key), place_of(key));
}

template <class Json>
double JsonObject<Json>::number_or(const std::string& key, double otherwise) {
  return has(key) ? number(key) : otherwise;
}

template <class Json>
int JsonObject<Json>::whole(const std::string& key) {
  return whole_of<int>(require(key), place_of(key));
}

template <class Json>
int JsonObject<Json>::whole_or(const std::string& key, int otherwise) {
  return has(key) ? whole(key) : otherwise;
}

template <class Json>
std::int64_t JsonObject<Json>::whole64(const std::string& key) {
  return whole_of<std::int64_t>(require(key), place_of(key));
}

template <class Json>
std::string JsonObject<Json>::text(const std::string& key) {
  return text_of(require(key), place_of(key));
}

template <class Json>
bool JsonObject<Json>::flag(const std::string& key) {
  const Json& value = require(key);
  if (!value.is_boolean()) refuse(key, "it must be true or false");
  return value.template get<bool>();
}

template <class Json>
JsonObject<Json> JsonObject<Json>::object(const std::string& key) {
  return JsonObject(require(key), place_of(key));
}

template <class Json>
template <class T, class Read>
std::vector<T> JsonObject<Json>::elements(const std::string& key, Read&& read) {
  const Json& value = require(key);
  if (!value.is_array()) refuse(key, "it must be a list, [...]");
  std::vector<T> result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    result.push_back(read(value[i], fmt::format("{}[{}]", place_of(key), i)));
  }
  return result;
}

template <class Json>
std::vector<double> JsonObject<Json>::numbers(const std::string& key) {
  return elements<double>(key, number_of<Json>);
}

template <class Json>
std::vector<int> JsonObject<Json>::wholes(const std::string& key) {
  return elements<int>(key, whole_of<int, Json>);
}

template <class Json>
std::vector<std::string> JsonObject<Json>::texts(const std::string& key) {
  return elements<std::string>(key, text_of<Json>);
}

template <class Json>
std::vector<JsonObject<Json>> JsonObject<Json>::objects(const std::string& key) {
  return elements<JsonObject>(
      key, [](const Json& value, const std::string& place) { return JsonObject(value, place); });
}

template <class Json>
void JsonObject<Json>::finish() const {
  for (const auto& item : json_->items()) {
    if (std::find(known_.begin(), known_.end(), item.key()) != known_.end()) continue;
    const int near = nearest_name(item.key(), known_);
    const std::string hint =
        near < 0 ? "" : fmt::format("; did you mean '{}'?", known_[static_cast<std::size_t>(near)]);
    refuse_at(place_of(item.key()), "is not known" + hint);
  }
}

template class JsonObject<nlohmann::json>;

}  // namespace nodewise::io
