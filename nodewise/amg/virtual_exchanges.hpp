// The exchanges of a setup on virtual ranks, written down one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/kernels/csr.hpp"
#include "nodewise/model/message_recorder.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::amg {

/// How one matrix's exchange is planned on all virtual ranks.
struct VirtualPlans {
  std::span<const comm::Plan> plans;
  const mpi::Topology& topology;
  comm::Route route = "direct";
};

/// The exchanges over one matrix's plans. All functions are local.
class VirtualExchanges {
 public:
  explicit VirtualExchanges(const VirtualPlans& planned);

  /// So many bytes for every ghost, from its owner or to it.
  void forward(std::size_t bytes);
  void reversed(std::size_t bytes);
  /// Records for the ghosts, their lengths before them in the same messages. Record i of all owned
  /// entries has offsets[i + 1] - offsets[i] items.
  void records(std::span<const Offset> offsets, std::size_t item_bytes);
  /// Likewise rows of M in runs of columns; virtual ranks have rows and columns as virtual_ghosts()
  /// is told.
  void rows(const kernels::Csr<double>& M, std::span<const GlobalIndex> row_starts,
            std::span<const GlobalIndex> col_starts);
  /// Likewise from the ghosts, of all ranks one after the other, to their owners: lengths and items
  /// that comm::visit_returned_record_messages() describes.
  void returned_records(const comm::Records<GlobalIndex>& ghosts, const comm::RecordLength& length,
                        std::size_t item_bytes);
  /// Likewise rows in runs of columns, of which the records have the columns, ascending.
  void returned_rows(const comm::Records<GlobalIndex>& ghosts);
  /// The columns of M for its ghosts, on their way to the owners: what matrix::transpose() sends.
  void transposed_rows(const kernels::Csr<double>& M, std::span<const GlobalIndex> row_starts,
                       std::span<const GlobalIndex> col_starts);
  model::MessageStages take();

 private:
  std::span<const comm::Plan> plans_;
  const mpi::Topology& topology_;
  model::MessageRecorder recorder_;
  model::MessageStages before_;
};

/// Local. The plans of a product with M; a new matrix has those of the route `direct`.
std::vector<comm::Plan> plans_of(const kernels::Csr<double>& M, std::span<const GlobalIndex> rows,
                                 std::span<const GlobalIndex> cols, const mpi::Topology& topology,
                                 const comm::Route& route = "direct");

/// Local. The plans of moving rows from where the ranks have them to where they are to have them.
std::vector<comm::Plan> plans_of_move(std::span<const GlobalIndex> from,
                                      std::span<const GlobalIndex> to,
                                      const mpi::Topology& topology);

/// Local. Adds a stage with one message of every rank to each owner of ghosts of M: what a new
/// matrix asks for.
void add_requests(const kernels::Csr<double>& M, std::span<const GlobalIndex> rows,
                  std::span<const GlobalIndex> cols, model::MessageStages& stages);

/// Likewise, where the patterns of its product are known.
void add_requests(std::span<const comm::Pattern> patterns, model::MessageStages& stages);

void append(model::MessageStages& stages, model::MessageStages more);

}  // namespace nodewise::amg
