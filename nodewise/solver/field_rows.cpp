#include "nodewise/solver/field_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/row_entries.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::solver {

namespace {

using Matrix = matrix::DistMatrix<double>;

/// Beside the largest other entry of its row a diagonal entry below this counts as none.
constexpr double tiny_diagonal = 1e-4;

/// -1, 0 for none or a tiny one, or 1 for each of this rank's rows.
std::vector<std::int8_t> diagonal_signs(const Matrix& A) {
  std::vector<std::int8_t> signs;
  signs.reserve(static_cast<std::size_t>(A.n_local()));
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    double diagonal = 0, largest = 0;
    matrix::for_each_entry(A, i, [&](LocalIndex col, double value) {
      if (col == i) {
        diagonal = value;
      } else {
        largest = std::max(largest, std::abs(value));
      }
    });
    const bool counts = std::abs(diagonal) > tiny_diagonal * largest;
    signs.push_back(static_cast<std::int8_t>(!counts ? 0 : diagonal > 0 ? 1 : -1));
  }
  return signs;
}

void require_both(std::int64_t n_second, std::int64_t n_rows) {
  if (n_second == 0) {
    throw Error(ErrorCode::unsuitable_matrix,
                "`fields auto` finds no second field: every row has a diagonal entry that counts; "
                "take `fields interleaved` with `unknowns`, or another preconditioner");
  }
  if (n_second == n_rows) {
    throw Error(ErrorCode::unsuitable_matrix,
                "`fields auto` finds no first field: no row has a diagonal entry that counts; take "
                "`fields interleaved` with `unknowns`, or another preconditioner");
  }
}

std::int32_t checked_field(const comm::Layout& rows, LocalIndex i, double number) {
  if (number >= 0 && number < most_fields && number == std::floor(number)) {
    return static_cast<std::int32_t>(number);
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the field of row {} (counted from 1) is {}, and is to be a whole number "
                          "from 0 to {}",
                          rows.to_global(i) - rows.first() + 1, number, most_fields - 1));
}

}  // namespace

RowFields RowFields::from_numbers(const comm::Layout& rows, std::span<const double> numbers) {
  RowFields fields;
  std::array<std::int64_t, most_fields> sizes{};
  const auto error = mpi::caught([&] {
    if (numbers.size() != static_cast<std::size_t>(rows.n_local())) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("there are the fields of {}, where this rank has {}",
                              counted(static_cast<std::int64_t>(numbers.size()), "row"),
                              counted(rows.n_local(), "row")));
    }
    for (LocalIndex i = 0; i < rows.n_local(); ++i) {
      fields.of_row.push_back(checked_field(rows, i, numbers[static_cast<std::size_t>(i)]));
      ++sizes[static_cast<std::size_t>(fields.of_row.back())];
    }
  });
  mpi::agree(rows.comm(), error);
  mpi::sum_in_place(rows.comm(), std::span<std::int64_t>(sizes));
  const auto end = std::find_if(sizes.rbegin(), sizes.rend(), [](auto n) { return n > 0; }).base();
  const auto empty = std::find(sizes.begin(), end, 0);
  if (empty != end) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("no row is of field {}, where there are fields up to {}",
                            empty - sizes.begin(), end - sizes.begin() - 1));
  }
  fields.count = static_cast<int>(end - sizes.begin());
  return fields;
}

FieldRows find_fields(const Matrix& A) {
  const bool symmetric = matrix::is_symmetric(A);
  std::vector<std::int8_t> signs;
  std::array<std::int64_t, 3> counts{};  // negative, none, positive
  const auto error = mpi::caught([&] {
    signs = diagonal_signs(A);
    for (const std::int8_t sign : signs) ++counts[static_cast<std::size_t>(sign + 1)];
  });
  mpi::agree_on_sums(A.comm(), error, counts);
  const std::int8_t fewer = counts[0] <= counts[2] ? -1 : 1;
  const std::int64_t of_other_sign = symmetric ? std::min(counts[0], counts[2]) : 0;
  require_both(counts[1] + of_other_sign, A.rows().n_global());
  return mpi::collectively(A.comm(), [&] {
    FieldRows rows;
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      const std::int8_t sign = signs[static_cast<std::size_t>(i)];
      const bool is_second = sign == 0 || (symmetric && sign == fewer);
      (is_second ? rows.second : rows.first).push_back(i);
    }
    return rows;
  });
}

FieldRows interleaved_fields(const comm::Layout& layout, int unknowns) {
  if (unknowns < 2) {
    throw Error(ErrorCode::invalid_argument,
                "`fields interleaved` needs `unknowns`, the rows of each point, of which the last "
                "is the second field");
  }
  if (layout.n_global() < unknowns) {
    throw Error(ErrorCode::unsuitable_matrix,
                fmt::format("`fields interleaved`: {} are not a point of {} unknowns",
                            counted(layout.n_global(), "row"), unknowns));
  }
  FieldRows rows;
  for (LocalIndex i = 0; i < layout.n_local(); ++i) {
    const bool is_second = (layout.to_global(i) - layout.first()) % unknowns == unknowns - 1;
    (is_second ? rows.second : rows.first).push_back(i);
  }
  return rows;
}

FieldRows given_fields(const RowFields& fields) {
  FieldRows rows;
  for (std::size_t i = 0; i < fields.of_row.size(); ++i) {
    (fields.of_row[i] > 0 ? rows.second : rows.first).push_back(static_cast<LocalIndex>(i));
  }
  return rows;
}

}  // namespace nodewise::solver
