// Reading a JSON object key by key, with messages that say where in the document something is
// wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nodewise::io {

/// An object of a parsed document, and its place there. What is asked for is remembered, so that
/// finish() can refuse keys that nobody asked for. Functions throw Error{file_format}, which begins
/// with the place, where a value is missing or has another type. `Json` is nlohmann::json, which
/// installed headers must not include; json_object.cpp instantiates the class for it.
template <class Json>
class JsonObject {
 public:
  JsonObject(const Json& json, std::string place);

  bool has(const std::string& key);
  double number(const std::string& key);
  double number_or(const std::string& key, double otherwise);
  int whole(const std::string& key);
  int whole_or(const std::string& key, int otherwise);
  std::int64_t whole64(const std::string& key);
  std::string text(const std::string& key);
  bool flag(const std::string& key);
  JsonObject object(const std::string& key);
  std::vector<double> numbers(const std::string& key);
  std::vector<int> wholes(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  std::vector<JsonObject> objects(const std::string& key);

  /// Refuses keys that nobody asked for, with the nearest that somebody did.
  void finish() const;
  /// Throws: the value of `key` is not as it `must` be.
  [[noreturn]] void refuse(const std::string& key, std::string_view must) const;

 private:
  std::string place_of(const std::string& key) const;
  const Json& require(const std::string& key);
  /// The elements of an array, each read by `read(element, its place)`.
  template <class T, class Read>
  std::vector<T> elements(const std::string& key, Read&& read);

  const Json* json_;
  std::string place_;
  std::vector<std::string> known_;
};

}  // namespace nodewise::io
