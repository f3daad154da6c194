#include "nodewise/amg/messages/splitting_messages.hpp"

#include "nodewise/amg/coarsen/coarsening_method.hpp"

namespace nodewise::amg {

std::int64_t collectives_of(std::span<const mpi::Account> books, const char* operation,
                            std::int64_t level) {
  for (const mpi::Account& account : books) {
    if (account.operation == operation && account.level == level) {
      return account.counts.collectives;
    }
  }
  return 0;
}

const SplittingMessages& messages_of(const Choice<CoarseningMethod>& coarsening) {
  return require(*coarsening->messages, "messages of coarsening " + coarsening.name());
}

}  // namespace nodewise::amg
