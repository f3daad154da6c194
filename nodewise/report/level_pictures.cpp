#include "nodewise/report/level_pictures.hpp"

#include <algorithm>
#include <span>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::report {

namespace {

using PicturedMatrix = matrix::DistMatrix<double>;

std::int64_t& bin_at(std::vector<std::int64_t>& square, int bins, int row, int column) {
  return square[static_cast<std::size_t>(row) * static_cast<std::size_t>(bins) +
                static_cast<std::size_t>(column)];
}

std::vector<std::int64_t> empty_square(int bins) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(bins) * static_cast<std::size_t>(bins));
}

/// Bins of columns are found once for each column, not for each entry.
void count_entries(const kernels::Csr<double>& rows, std::span<const std::uint8_t> bin_of_row,
                   std::span<const std::uint8_t> bin_of_column, LevelPicture& picture) {
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    const int row = bin_of_row[static_cast<std::size_t>(i)];
    for (Offset k = rows.begin(i); k < rows.end(i); ++k) {
      const auto column = static_cast<std::size_t>(rows.cols[static_cast<std::size_t>(k)]);
      ++bin_at(picture.entries, picture.row_bins, row, bin_of_column[column]);
    }
  }
}

void count_entries(const PicturedMatrix& A, LevelPicture& picture) {
  const Bins bins(picture.rows);
  const auto bin_of = [&](GlobalIndex i) {
    return static_cast<std::uint8_t>(bins[i - A.rows().first()]);
  };
  std::vector<std::uint8_t> own(static_cast<std::size_t>(A.n_local()));
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i] = bin_of(A.rows().begin() + static_cast<GlobalIndex>(i));
  }
  std::vector<std::uint8_t> ghosts(A.ghosts().size());
  std::transform(A.ghosts().begin(), A.ghosts().end(), ghosts.begin(), bin_of);
  count_entries(A.on(), own, own, picture);
  count_entries(A.off(), own, ghosts, picture);
}

/// What this rank has of it.
LevelPicture picture_of_rank(const PicturedMatrix& A) {
  const mpi::Comm& comm = A.comm();
  LevelPicture picture;
  picture.rows = A.rows().n_global();
  picture.row_bins = Bins(picture.rows).count();
  picture.entries = empty_square(picture.row_bins);
  picture.node_bins = Bins(comm.topology().n_nodes()).count();
  picture.messages = picture.bytes = empty_square(picture.node_bins);
  count_entries(A, picture);
  add_traffic(A.exchange().plan(), comm.topology(), comm.rank(), picture);
  return picture;
}

/// Collective.
LevelPicture picture_of(const PicturedMatrix& A) {
  const mpi::Comm& comm = A.comm();
  std::vector<std::int64_t> all;
  LevelPicture picture = mpi::collectively(comm, [&] {
    LevelPicture own = picture_of_rank(A);
    for (const auto* part : {&own.entries, &own.messages, &own.bytes}) {
      all.insert(all.end(), part->begin(), part->end());
    }
    return own;
  });
  mpi::sum_in_place(comm, std::span(all));
  auto next = all.begin();
  for (auto* part : {&picture.entries, &picture.messages, &picture.bytes}) {
    const auto end = next + static_cast<std::ptrdiff_t>(part->size());
    std::copy(next, end, part->begin());
    next = end;
  }
  return picture;
}

}  // namespace

Bins::Bins(GlobalIndex n)
    : count_(static_cast<int>(std::clamp<GlobalIndex>(n, 1, most_bins))),
      length_(n / count_),
      longer_(n % count_) {}

int Bins::operator[](GlobalIndex i) const {
  const GlobalIndex in_longer = longer_ * (length_ + 1);
  if (i < in_longer) return static_cast<int>(i / (length_ + 1));
  return static_cast<int>(longer_ + (i - in_longer) / length_);
}

void add_traffic(const comm::Plan& plan, const mpi::Topology& topology, int rank,
                 LevelPicture& picture) {
  const Bins bins(topology.n_nodes());
  const int from = bins[topology.node(rank)];
  for (const comm::Stage& stage : plan.stages) {
    for (std::size_t k = 0; k < stage.send_ranks.size(); ++k) {
      const int to = bins[topology.node(stage.send_ranks[k])];
      const std::int64_t entries = stage.send_offsets[k + 1] - stage.send_offsets[k];
      bin_at(picture.messages, picture.node_bins, from, to) += 1;
      bin_at(picture.bytes, picture.node_bins, from, to) +=
          entries * static_cast<std::int64_t>(sizeof(double));
    }
  }
}

std::vector<LevelPicture> level_pictures(const PicturedMatrix& A,
                                         const amg::Hierarchy<double>* hierarchy) {
  std::vector<LevelPicture> pictures;
  if (hierarchy == nullptr) return {picture_of(A)};
  for (std::size_t l = 0; l < hierarchy->levels().size(); ++l) {
    pictures.push_back(picture_of(*hierarchy->matrix(l)));
  }
  return pictures;
}

}  // namespace nodewise::report
