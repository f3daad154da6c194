// Layer mpi: its collectives, on arrays of numbers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "nodewise/mpi/collectives/allgather.hpp"
#include "nodewise/mpi/collectives/allreduce.hpp"
#include "nodewise/mpi/collectives/alltoallv.hpp"

#include "arrays.hpp"
#include "bindings.hpp"

namespace nodewise::python {

namespace {

using Bytes = InPlace<const std::uint8_t>;
using Counts = InPlace<const Offset>;
using Room = InPlace<std::uint8_t>;

/// A kind of NumPy, an item's bytes, and MPI's type of the same numbers.
struct NumberType {
  char kind;
  std::size_t bytes;
  MPI_Datatype type;
};

std::optional<MPI_Datatype> find_number_type(const std::string& kind, std::size_t bytes) {
  const std::array<NumberType, 14> types = {{{'b', 1, MPI_C_BOOL},
                                             {'i', 1, MPI_INT8_T},
                                             {'i', 2, MPI_INT16_T},
                                             {'i', 4, MPI_INT32_T},
                                             {'i', 8, MPI_INT64_T},
                                             {'u', 1, MPI_UINT8_T},
                                             {'u', 2, MPI_UINT16_T},
                                             {'u', 4, MPI_UINT32_T},
                                             {'u', 8, MPI_UINT64_T},
                                             {'f', 4, MPI_FLOAT},
                                             {'f', 8, MPI_DOUBLE},
                                             {'f', sizeof(long double), MPI_LONG_DOUBLE},
                                             {'c', 8, MPI_C_FLOAT_COMPLEX},
                                             {'c', 16, MPI_C_DOUBLE_COMPLEX}}};
  for (const NumberType& known : types) {
    if (kind == std::string(1, known.kind) && bytes == known.bytes) return known.type;
  }
  return std::nullopt;
}

/// A type of so many bytes, for data that is moved and nothing else: with one item an element,
/// MPI's own counts reach as far as they can.
MPI_Datatype type_of_bytes(std::size_t bytes) {
  switch (bytes) {
    case 2:
      return MPI_INT16_T;
    case 4:
      return MPI_INT32_T;
    case 8:
      return MPI_INT64_T;
    case 16:
      return MPI_C_DOUBLE_COMPLEX;
    case 32:
      return MPI_C_LONG_DOUBLE_COMPLEX;
    default:
      return MPI_BYTE;
  }
}

template <class Method>
std::optional<Choice<Method>> chosen(const std::string& algorithm) {
  if (algorithm.empty()) return std::nullopt;
  return Choice<Method>(algorithm);
}

/// Collective. Of each number the least of any rank: as many numbers on every rank, and right by
/// construction.
std::vector<std::int64_t> least(const Communicator& c, std::vector<std::int64_t> numbers) {
  mpi::collectives::allreduce_unchecked(*c.comm, numbers.data(),
                                        static_cast<Offset>(numbers.size()), sizeof(std::int64_t),
                                        MPI_INT64_T, MPI_MIN);
  return numbers;
}

/// Collective, as the others. `result` has as many bytes as `values`.
void allreduce(const Communicator& c, const Bytes& values, const Room& result,
               const std::string& kind, std::size_t item_bytes, MPI_Fint op,
               const std::string& algorithm) {
  mpi::collectives::allreduce(*c.comm, values.data(), result.data(),
                              static_cast<Offset>(values.size() / item_bytes),
                              find_number_type(kind, item_bytes).value_or(MPI_DATATYPE_NULL),
                              MPI_Op_f2c(op), chosen<mpi::AllreduceMethod>(algorithm));
}

void allgatherv(const Communicator& c, const Bytes& mine, const Room& all, const Counts& counts,
                const Counts& starts, std::size_t item_bytes, const std::string& algorithm) {
  const MPI_Datatype type = type_of_bytes(item_bytes);
  mpi::collectives::allgatherv(*c.comm, mine.data(), static_cast<Offset>(mine.size() / item_bytes),
                               type, all.data(), span_of(counts), span_of(starts), type,
                               chosen<mpi::AllgatherMethod>(algorithm));
}

void alltoallv(const Communicator& c, const Bytes& sent, const Counts& counts, const Counts& starts,
               const Room& received, const Counts& receive_counts, const Counts& receive_starts,
               std::size_t item_bytes, const std::string& algorithm) {
  const MPI_Datatype type = type_of_bytes(item_bytes);
  mpi::collectives::alltoallv(*c.comm, sent.data(), {span_of(counts), span_of(starts), type},
                              received.data(),
                              {span_of(receive_counts), span_of(receive_starts), type},
                              chosen<mpi::AlltoallvMethod>(algorithm));
}

/// Local. Every setting of a communicator that names an algorithm, with the words that it may be
/// set to and what they mean.
nb::dict algorithms() {
  nb::dict all;
  for (const Field<mpi::CommSettings>& field : mpi::all_setting_fields()) {
    if (field.words().front().summary.empty()) continue;  // no algorithms
    nb::dict words;
    for (const Word& word : field.words()) words[word.name.c_str()] = word.summary;
    all[field.name.c_str()] = words;
  }
  return all;
}

/// Local. The place of an algorithm among the words of a setting. Throws invalid_argument with the
/// nearest where there is none such.
std::int64_t find_algorithm(const std::string& setting, const std::string& name) {
  const auto fields = mpi::all_setting_fields();
  mpi::CommSettings refuses;
  set_option(refuses, fields, setting, name);
  const std::vector<Word> words =
      std::ranges::find(fields, setting, &Field<mpi::CommSettings>::name)->words();
  return std::ranges::find(words, name, &Word::name) - words.begin();
}

}  // namespace

void bind_collectives(nb::module_& m) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  m.def("least", &least, Release());
  m.def("allreduce", &allreduce, Release());
  m.def("allgatherv", &allgatherv, Release());
  m.def("alltoallv", &alltoallv, Release());
  m.def("algorithms", &algorithms);
  m.def("find_algorithm", &find_algorithm);
  m.def("has_number_type", [](const std::string& kind, std::size_t bytes) {
    return find_number_type(kind, bytes).has_value();
  });
}

}  // namespace nodewise::python
