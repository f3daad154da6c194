#include "nodewise/amg/messages/splitting_messages.hpp"

#include <algorithm>
#include <vector>

#include "nodewise/base/error.hpp"

namespace nodewise::amg {

namespace {

using kernels::Csr;

/// The reductions of a splitting that finds nothing to do.
constexpr std::int64_t idle_collectives = 2;

/// Where the strong entries of every row begin, were they one after another.
std::vector<Offset> strong_offsets(const Csr<double>& A, const Strength& strength) {
  std::vector<Offset> offsets = {0};
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    Offset n = 0;
    for (Offset k = A.begin(i); k < A.end(i); ++k) n += strength.on[static_cast<std::size_t>(k)];
    offsets.push_back(offsets.back() + n);
  }
  return offsets;
}

/// As Pmis::run() in coarsen/pmis.cpp.
void pmis_exchanges(int rounds, VirtualExchanges& exchanges) {
  exchanges.reversed(sizeof(double));  // how many depend on a point
  exchanges.forward(sizeof(double));   // weights
  for (int k = 0; k < rounds; ++k) {
    exchanges.reversed(sizeof(std::int32_t));  // who is outweighed
    exchanges.forward(sizeof(std::int8_t));    // coarse points
    exchanges.forward(sizeof(std::int8_t));    // fine points
  }
}

/// As Cljp::run() in coarsen/cljp.cpp.
void cljp_exchanges(int rounds, std::span<const Offset> strong, VirtualExchanges& exchanges) {
  exchanges.records(strong, sizeof(GlobalIndex));
  exchanges.reversed(sizeof(double));
  exchanges.forward(sizeof(std::int8_t));
  exchanges.reversed(sizeof(std::int32_t));  // edges taken
  for (int k = 0; k < rounds; ++k) {
    exchanges.forward(sizeof(double));
    exchanges.reversed(sizeof(std::int32_t));  // who is outweighed
    exchanges.forward(sizeof(std::int8_t));
    exchanges.reversed(sizeof(std::int32_t));
  }
}

}  // namespace

std::int64_t collectives_of(std::span<const mpi::Account> books, const char* operation,
                            std::int64_t level) {
  for (const mpi::Account& account : books) {
    if (account.operation == operation && account.level == level) {
      return account.counts.collectives;
    }
  }
  return 0;
}

/// What reductions tell of a splitting: one agrees on the beginning, one asks for points that are
/// left, and so does each round before it begins and the last one after it; CLJP agrees on ghost
/// rows twice besides.
int splitting_rounds(Coarsening coarsening, std::int64_t collectives) {
  switch (coarsening) {
    case Coarsening::ruge_stueben:
    case Coarsening::ruge_stueben_first_pass:
      return 0;
    case Coarsening::pmis:
    case Coarsening::hmis:
      return static_cast<int>(std::max<std::int64_t>(0, collectives - 3));
    case Coarsening::cljp:
    case Coarsening::falgout:
      return static_cast<int>(std::max<std::int64_t>(0, collectives - 5));
  }
  throw Error(ErrorCode::internal, "a coarsening whose rounds are not known");
}

void splitting_exchanges(Coarsening coarsening, std::int64_t collectives, const Csr<double>& A,
                         const Strength& strength, VirtualExchanges& exchanges) {
  const bool is_idle = collectives <= idle_collectives;
  const int rounds = splitting_rounds(coarsening, collectives);
  switch (coarsening) {
    case Coarsening::ruge_stueben:
    case Coarsening::ruge_stueben_first_pass:
      break;
    case Coarsening::pmis:
    case Coarsening::hmis:
      exchanges.forward(sizeof(std::int8_t));
      if (!is_idle) pmis_exchanges(rounds, exchanges);
      break;
    case Coarsening::cljp:
    case Coarsening::falgout:
      if (!is_idle) cljp_exchanges(rounds, strong_offsets(A, strength), exchanges);
      break;
  }
}

}  // namespace nodewise::amg
