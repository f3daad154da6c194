// Layer matrix: distributed matrices from and to compressed rows, and their assembly.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/row_arrays.hpp"
#include "nodewise/mpi/agree.hpp"

#include "arrays.hpp"
#include "bindings.hpp"

namespace nodewise::python {

namespace {

using DistMatrix = matrix::DistMatrix<double>;

Matrix held(DistMatrix A) {
  return {std::make_shared<const DistMatrix>(std::move(A))};
}

/// Local. Throws dimension_mismatch where the arrays of compressed rows do not fit each other.
template <class Index>
void check_rows(std::span<const Index> indptr, std::size_t entries, std::size_t values) {
  const auto wrong = [](const std::string& text) {
    throw Error(ErrorCode::dimension_mismatch, text);
  };
  if (indptr.empty()) wrong("`indptr` is empty; it has one number more than there are rows");
  if (indptr.front() != 0) wrong(fmt::format("`indptr` begins with {}, not 0", indptr.front()));
  if (!std::is_sorted(indptr.begin(), indptr.end())) wrong("`indptr` descends somewhere");
  const auto end = static_cast<std::size_t>(indptr.back());
  if (entries != values || end != entries) {
    wrong(fmt::format("`indptr` ends with {}, where there are {} indices and {} values", end,
                      entries, values));
  }
}

/// Collective. The matrix of which each rank gives its rows, with global columns; `columns` of
/// them, or -1 for a square one.
template <class Index, class Value>
Matrix from_rows(const Communicator& c, const InPlace<const Index>& indptr,
                 const InPlace<const Index>& indices, const InPlace<const Value>& data,
                 GlobalIndex columns) {
  const nb::gil_scoped_release release;
  const std::span<const Index> ends = span_of(indptr);
  const std::span<const Index> cols = span_of(indices);
  const std::span<const Value> values = span_of(data);
  mpi::collectively(*c.comm, [&] { check_rows(ends, cols.size(), values.size()); });
  const auto rows =
      comm::Layout::from_local_size(c.comm, static_cast<GlobalIndex>(ends.size()) - 1);
  const comm::Layout width =
      columns < 0 || columns == rows.n_global() ? rows : comm::Layout::uniform(c.comm, columns);
  return held(
      matrix::matrix_from_arrays(rows, width, matrix::RowArrays<Index, Value>{ends, cols, values}));
}

/// Local. This rank's rows, with columns of type Index: global ones, ascending.
template <class Index>
nb::tuple copied_rows(const DistMatrix& A) {
  std::vector<Index> indptr{0}, indices;
  std::vector<double> data;
  indices.reserve(static_cast<std::size_t>(A.nnz_local()));
  data.reserve(indices.capacity());
  const auto take = [&](GlobalIndex column, double value) {
    indices.push_back(static_cast<Index>(column));
    data.push_back(value);
  };
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    Offset off = A.off().begin(i);
    const auto take_ghosts_before = [&](GlobalIndex end) {
      for (; off < A.off().end(i); ++off) {
        const auto p = static_cast<std::size_t>(off);
        const GlobalIndex column = A.ghosts()[static_cast<std::size_t>(A.off().cols[p])];
        if (column >= end) return;
        take(column, A.off().vals[p]);
      }
    };
    take_ghosts_before(A.cols().begin());
    for (Offset on = A.on().begin(i); on < A.on().end(i); ++on) {
      const auto p = static_cast<std::size_t>(on);
      take(A.cols().to_global(A.on().cols[p]), A.on().vals[p]);
    }
    take_ghosts_before(std::numeric_limits<GlobalIndex>::max());
    indptr.push_back(static_cast<Index>(data.size()));
  }
  return nb::make_tuple(array_of(std::move(indptr)), array_of(std::move(indices)),
                        array_of(std::move(data)));
}

/// Local. This rank's rows; values and columns are shown in place where one rank has all columns.
nb::tuple rows_of(const Matrix& m) {
  constexpr GlobalIndex most = std::numeric_limits<std::int32_t>::max();
  const DistMatrix& A = *m.A;
  if (A.cols().n_global() > most || A.nnz_local() > most) return copied_rows<std::int64_t>(A);
  if (A.n_ghosts() > 0 || A.cols().begin() > 0) return copied_rows<std::int32_t>(A);
  const kernels::Csr<double>& on = A.on();
  const std::vector<std::int32_t> indptr(on.row_ptr.begin(), on.row_ptr.end());
  return nb::make_tuple(array_of(indptr),
                        view_of(std::span<const LocalIndex>(on.cols.data(), on.cols.size()), m.A),
                        view_of(std::span<const double>(on.vals), m.A));
}

/// Collective. y = A x.
void multiply(const Matrix& m, const InPlace<const double>& x, const InPlace<double>& y) {
  const nb::gil_scoped_release release;
  const auto check = [&] {
    const auto n = static_cast<std::size_t>(m.A->cols().n_local());
    if (x.size() == n && y.size() == static_cast<std::size_t>(m.A->n_local())) return;
    throw Error(ErrorCode::dimension_mismatch,
                fmt::format("the vector has {} numbers here, the matrix {} columns", x.size(), n));
  };
  mpi::collectively(m.A->comm(), check);
  matrix::multiply<double>(*m.A, span_of(x), span_of(y));
}

/// Entries for rows of any rank, then the matrix of all of them.
struct Assembly {
  Assembly(const Communicator& c, GlobalIndex n_local)
      : rows(comm::Layout::from_local_size(c.comm, n_local)), entries(rows, rows) {}

  /// Local. Entry k is values[k] at row i[k] and column j[k].
  void add(const InPlace<const std::int64_t>& i, const InPlace<const std::int64_t>& j,
           const InPlace<const double>& values) {
    if (i.size() != j.size() || i.size() != values.size()) {
      throw Error(ErrorCode::dimension_mismatch, fmt::format("{} rows, {} columns and {} values",
                                                             i.size(), j.size(), values.size()));
    }
    for (std::size_t k = 0; k < i.size(); ++k) {
      entries.add(i.data()[k], j.data()[k], values.data()[k]);
    }
  }

  comm::Layout rows;
  matrix::Assembler<double> entries;
};

void bind_assembly(nb::module_& m) {
  nb::class_<Assembly>(m, "Assembly")
      .def(nb::init<const Communicator&, GlobalIndex>(), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("row_range",
                   [](const Assembly& a) { return std::tuple(a.rows.begin(), a.rows.end()); })
      .def("add", &Assembly::add)
      .def(
          "finish", [](Assembly& a) { return held(a.entries.finish()); },
          nb::call_guard<nb::gil_scoped_release>());
}

template <class Index, class Value>
void bind_from_rows(nb::module_& m) {
  m.def("matrix_from_rows", &from_rows<Index, Value>);
}

}  // namespace

void bind_matrix(nb::module_& m) {
  nb::class_<Matrix>(m, "Matrix")
      .def_prop_ro("shape",
                   [](const Matrix& a) {
                     return std::tuple(a.A->rows().n_global(), a.A->cols().n_global());
                   })
      .def_prop_ro("nnz", [](const Matrix& a) { return a.A->nnz_global(); })
      .def_prop_ro("communicator", [](const Matrix& a) { return Communicator{a.A->shared_comm()}; })
      .def_prop_ro(
          "row_range",
          [](const Matrix& a) { return std::tuple(a.A->rows().begin(), a.A->rows().end()); })
      .def_prop_ro(
          "column_range",
          [](const Matrix& a) { return std::tuple(a.A->cols().begin(), a.A->cols().end()); })
      .def("rows", &rows_of)
      .def("diagonal", [](const Matrix& a) { return array_of(matrix::diagonal(*a.A)); })
      .def("multiply", &multiply)
      .def(
          "transpose", [](const Matrix& a) { return held(matrix::transpose(*a.A)); },
          nb::call_guard<nb::gil_scoped_release>());
  bind_from_rows<std::int32_t, double>(m);
  bind_from_rows<std::int64_t, double>(m);
  bind_from_rows<std::int32_t, float>(m);
  bind_from_rows<std::int64_t, float>(m);
  bind_assembly(m);
}

}  // namespace nodewise::python
