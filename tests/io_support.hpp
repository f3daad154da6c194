// Files for the tests of readers and writers, and matrices gathered for comparison.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <zlib.h>

#include "nodewise/io/row_visit.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

#include "support.hpp"

namespace nodewise::test {

/// Collective. A folder of its own for a test, the same on every rank, removed at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string path;
    if (test_comm()->is_root()) {
      std::string name = (std::filesystem::temp_directory_path() / "nodewise-XXXXXX").string();
      path = mkdtemp(name.data()) != nullptr ? name : "";
    }
    path_ = mpi::broadcast(*test_comm(), path, 0);
  }
  ~TempFolder() {
    MPI_Barrier(test_comm()->get());
    std::error_code ignored;
    if (test_comm()->is_root()) std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

  /// Collective. Rank 0 writes the file, when all are done with what was there; returns its path.
  std::string file(const std::string& name, const std::string& content) const {
    MPI_Barrier(test_comm()->get());
    if (test_comm()->is_root()) std::ofstream(path(name), std::ios::binary) << content;
    MPI_Barrier(test_comm()->get());
    return path(name);
  }
  /// Collective. The same, compressed.
  std::string gzip_file(const std::string& name, const std::string& content) const {
    if (test_comm()->is_root()) {
      gzFile out = gzopen(path(name).c_str(), "wb");
      if (!content.empty()) gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
      gzclose(out);
    }
    MPI_Barrier(test_comm()->get());
    return path(name);
  }
  /// The names in the folder, in order.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::string path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

using Entries = std::vector<std::tuple<GlobalIndex, GlobalIndex, double>>;

/// Collective. All entries of a matrix in row order, counted from the beginning of its layouts.
template <class T>
Entries gather_entries(const matrix::DistMatrix<T>& A) {
  std::vector<GlobalIndex> places;
  std::vector<double> values;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    io::visit_row(A, i, [&](GlobalIndex col, T value) {
      places.push_back(A.rows().to_global(i) - A.rows().first());
      places.push_back(col - A.cols().first());
      values.push_back(static_cast<double>(value));
    });
  }
  places = mpi::concatenate_all(A.comm(), std::span<const GlobalIndex>(places));
  values = mpi::concatenate_all(A.comm(), std::span<const double>(values));
  Entries entries;
  for (std::size_t k = 0; k < values.size(); ++k) {
    entries.emplace_back(places[2 * k], places[2 * k + 1], values[k]);
  }
  return entries;
}

}  // namespace nodewise::test
