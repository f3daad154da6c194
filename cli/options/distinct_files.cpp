#include "cli/options/distinct_files.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/exit_code.hpp"
#include "cli/options/catalog.hpp"

namespace nodewise::cli {

namespace {

namespace fs = std::filesystem;

/// A file that the command line names, and what it is there.
struct NamedFile {
  std::string role;
  std::string path;
};

/// The same file where both exist; else the same path.
bool are_the_same(const std::string& a, const std::string& b) {
  std::error_code ignored;  // of what cannot be looked up the path is empty
  if (fs::equivalent(a, b, ignored)) return true;
  const fs::path path = fs::weakly_canonical(a, ignored);
  return a == b || (!path.empty() && path == fs::weakly_canonical(b, ignored));
}

bool is_written(const Option& option) {
  return option.name == "output" || option.name == "json" || option.name == "write-partition" ||
         option.name == "write-order";
}

/// Those of the options; with `written`, the outputs.
void add_given(const Settings& settings, bool written, std::vector<NamedFile>& files) {
  for (const Option& option : catalog()) {
    const bool is_file = option.type == "file" || option.type == "machine";
    if (is_file && is_written(option) == written && settings.has(option.name)) {
      files.push_back({"--" + option.name, *option.get(settings)});
    }
  }
}

std::vector<NamedFile> inputs_of(const Settings& settings) {
  std::vector<NamedFile> inputs;
  // "-" is two streams.
  if (!settings.is_model_problem() && !settings.files.empty() && settings.files.front() != "-") {
    inputs.push_back({"the matrix", settings.files.front()});
  }
  add_given(settings, false, inputs);
  return inputs;
}

std::vector<NamedFile> outputs_of(const Settings& settings) {
  std::vector<NamedFile> outputs;
  const std::size_t read = settings.is_model_problem() ? 0 : 1;
  if (settings.command->writes_matrix && settings.files.size() > read) {
    outputs.push_back({"the file to write", settings.files.back()});
  }
  add_given(settings, true, outputs);
  return outputs;
}

}  // namespace

void check_distinct_files(const Settings& settings) {
  std::vector<NamedFile> known = inputs_of(settings);
  for (NamedFile& output : outputs_of(settings)) {
    for (const NamedFile& other : known) {
      if (!are_the_same(other.path, output.path)) continue;
      throw Failure(ExitCode::usage, fmt::format("{} and {} name the same file, '{}'", other.role,
                                                 output.role, output.path));
    }
    known.push_back(std::move(output));
  }
}

}  // namespace nodewise::cli
