#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nodewise/base/error.hpp"
#include "nodewise/io/byte_source.hpp"
#include "nodewise/io/json_object.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/machine_parameters.hpp"

namespace nodewise::io {

namespace {

using Json = nlohmann::json;
using Object = JsonObject<Json>;
using model::Machine;

/// Deeper than any machine. Printing a value in a message takes the stack for each level.
constexpr int deepest = 16;

/// The parser would silently let the last of several equal keys count.
Json parse_without_duplicates(std::string_view text) {
  std::vector<std::set<std::string>> open;
  const auto watch = [&open](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > deepest) {
      throw Error(ErrorCode::file_format,
                  fmt::format("objects and lists are nested more than {} deep", deepest));
    }
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key &&
        !open.back().insert(parsed.get_ref<const std::string&>()).second) {
      throw Error(ErrorCode::file_format, fmt::format("the key {} is there twice", parsed.dump()));
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception& e) {
    const std::string_view message = e.what();
    const std::size_t end_of_tag = message.find("] ");
    throw Error(ErrorCode::file_format,
                std::string(end_of_tag == std::string_view::npos ? message
                                                                 : message.substr(end_of_tag + 2)));
  }
}

/// Sets the parameters of a machine from a document. What an optional key leaves out stays as it
/// is.
class Reader final : public model::ParameterVisitor {
 public:
  using Key = model::Key;
  using Quantity = model::Quantity;

  explicit Reader(Object& document) { open_.push_back(document); }

  void text(const Key& key, std::string& value) override {
    if (is_there(key)) value = json().text(key.name);
  }
  void flag(const Key& key, bool& value) override {
    if (is_there(key)) value = json().flag(key.name);
  }
  void number(const Key& key, double& value, const Quantity& /*quantity*/) override {
    if (is_there(key)) value = json().number(key.name);
  }
  void whole(const Key& key, int& value, int /*least*/) override {
    if (is_there(key)) value = json().whole(key.name);
  }
  void whole(const Key& key, std::int64_t& value) override {
    if (is_there(key)) value = json().whole64(key.name);
  }
  void texts(const Key& key, std::vector<std::string>& values) override {
    if (is_there(key)) values = json().texts(key.name);
  }
  void numbers(const Key& key, std::vector<double>& values, const Quantity& /*quantity*/) override {
    if (is_there(key)) values = json().numbers(key.name);
  }
  void counts(const Key& key, std::vector<int>& values) override {
    if (is_there(key)) values = json().wholes(key.name);
  }
  void word(const Key& key, const FamilyBase& family, std::size_t& k) override {
    const std::string name = json().text(key.name);
    const std::vector<std::string> names = family.names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      json().refuse(key.name, fmt::format("it must be one of {}", fmt::join(names, ", ")));
    }
    k = static_cast<std::size_t>(found - names.begin());
  }
  void choose(const Key& key, const FamilyBase& family, std::size_t k,
              const std::function<void(std::size_t)>& describe) override {
    word(key, family, k);
    describe(k);
  }
  bool enters(const Key& key, bool /*has_some*/) override { return is_there(key); }
  void begin(const Key& key) override { open_.push_back(json().object(key.name)); }
  void end() override {
    json().finish();
    open_.pop_back();
  }
  std::size_t begin_list(const Key& key, std::size_t /*size*/) override {
    lists_.push_back(json().objects(key.name));
    return lists_.back().size();
  }
  void begin_element(std::size_t k) override { open_.push_back(lists_.back()[k]); }
  void end_list() override { lists_.pop_back(); }
  void finish() { json().finish(); }

 private:
  Object& json() { return open_.back(); }
  bool is_there(const Key& key) { return json().has(key.name) || key.needed; }

  std::vector<Object> open_;
  std::vector<std::vector<Object>> lists_;
};

Machine machine_from(Object json) {
  if (json.has("$schema")) json.text("$schema");
  if (json.whole("schema_version") != 1) json.refuse("schema_version", "this version reads 1");
  Machine machine;
  Reader reader(json);
  visit_parameters(reader, machine);
  reader.finish();
  return machine;
}

/// Control characters, such as those of a key that is not known, as a text shows them.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = byte < 0x20 || byte == 0x7f;
    result += is_control ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return result;
}

/// The whole file as text. Megabytes are no machine.
std::string text_of_file(const std::string& path) {
  const InputFile file(path);
  constexpr Offset most = Offset{1} << 20;
  if (file.size() > most) {
    throw Error(ErrorCode::file_format,
                fmt::format("machine file {}: {} bytes are too many for a machine file", path,
                            file.size()));
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  try {
    file.read_all_at(0, text);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("machine file {}: {}", path, e.what()));
  }
  return text;
}

}  // namespace

model::Machine parse_machine(std::string_view text, const std::string& origin) {
  try {
    const Json document = parse_without_duplicates(text);
    Machine machine = machine_from(Object(document, ""));
    check(machine);
    return machine;
  } catch (const Error& e) {
    throw Error(ErrorCode::file_format,
                fmt::format("machine file {}: {}", origin, printable(e.what())));
  }
}

model::Machine read_machine(const std::string& path) {
  return parse_machine(text_of_file(path), path);
}

}  // namespace nodewise::io
