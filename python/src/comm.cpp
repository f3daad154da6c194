// Layer comm: sparse dynamic data exchange, of items of any size.
#include <cstddef>
#include <nanobind/stl/string.h>
#include <optional>

#include "nodewise/base/array.hpp"
#include "nodewise/comm/sdde/sdde.hpp"

#include "arrays.hpp"
#include "bindings.hpp"

namespace nodewise::python {

namespace {

struct Arrived {
  std::vector<int> ranks;
  std::vector<Offset> offsets = {0};  ///< in items
  Array<std::byte> data;
};

/// Collective. `equal_count`: the items of every message, or below 0 where they differ. `algorithm`
/// is the same on every rank; "" is the communicator's.
Arrived exchange(const Communicator& c, const InPlace<const int>& ranks,
                 const InPlace<const Offset>& offsets, const InPlace<const std::uint8_t>& data,
                 std::size_t item_bytes, Offset equal_count, const std::string& algorithm) {
  Arrived arrived;
  comm::SparseOptions options;
  if (!algorithm.empty()) options.algorithm = algorithm;
  const auto prepare = [&] {
    comm::detail::SparseSends sends{span_of(ranks), span_of(offsets), std::as_bytes(span_of(data)),
                                    item_bytes};
    if (equal_count >= 0) sends.equal_count = equal_count;
    return sends;
  };
  const auto room = [&](std::size_t items) {
    arrived.data.resize(items * item_bytes);
    return arrived.data.data();
  };
  comm::detail::exchange_bytes(*c.comm, prepare, {arrived.ranks, arrived.offsets, room}, options);
  return arrived;
}

/// The ranks that messages came from, ascending; where each begins, in items, and the end; bytes.
nb::tuple exchange_messages(const Communicator& c, const InPlace<const int>& ranks,
                            const InPlace<const Offset>& offsets,
                            const InPlace<const std::uint8_t>& data, std::size_t item_bytes,
                            Offset equal_count, const std::string& algorithm) {
  Arrived arrived;
  {
    const nb::gil_scoped_release release;
    arrived = exchange(c, ranks, offsets, data, item_bytes, equal_count, algorithm);
  }
  return nb::make_tuple(array_of(std::move(arrived.ranks)), array_of(std::move(arrived.offsets)),
                        bytes_of(std::move(arrived.data)));
}

}  // namespace

void bind_comm(nb::module_& m) {
  m.def("exchange_messages", &exchange_messages);
}

}  // namespace nodewise::python
