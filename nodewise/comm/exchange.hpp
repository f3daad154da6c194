// Runs a Plan: the one executor behind every halo, transpose, and row exchange of the library.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/base/timer.hpp"
#include "nodewise/comm/overlap.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/record_messages.hpp"
#include "nodewise/comm/transport/stage_carrier.hpp"
#include "nodewise/comm/transport/transport.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm {

/// Records of varying length: number i is data[offsets[i] .. offsets[i + 1]).
template <class T>
struct Records {
  std::vector<Offset> offsets = {0};
  std::vector<T> data;

  std::size_t size() const { return offsets.size() - 1; }
  Offset length(std::size_t i) const { return offsets[i + 1] - offsets[i]; }
  std::span<const T> operator[](std::size_t i) const {
    return std::span(data).subspan(static_cast<std::size_t>(offsets[i]),
                                   static_cast<std::size_t>(length(i)));
  }
  /// What is in `data` behind the last record is one.
  void end_record() { offsets.push_back(static_cast<Offset>(data.size())); }
};

/// Executes a Plan over a transport. All functions are collective over the ranks of the plan and
/// cost the plan's messages once, each rank sending first to the rank after its own. Records travel
/// point to point, their lengths before them in the same message. One object runs one exchange at a
/// time; different objects may overlap if every rank starts them in the same order. Item types must
/// be trivially copyable.
class Exchange {
 public:
  static constexpr Offset default_max_message_bytes = Offset{1} << 30;

  /// Local, or collective for transports that are: then the destructor and the first run in either
  /// direction are, too, and it throws unsupported, the same on every
  /// rank, where require_available() does. Longer messages are cut into pieces of
  /// max_message_bytes, so that MPI's counts never overflow; throws invalid_argument unless
  /// 0 < max_message_bytes < 2^31.
  Exchange(std::shared_ptr<const mpi::Comm> comm, Plan plan, Transport transport = "point_to_point",
           Offset max_message_bytes = default_max_message_bytes);
  ~Exchange();  ///< an exchange still in flight is completed
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const Plan& plan() const { return plan_; }
  const Transport& transport() const { return transport_; }
  const mpi::Comm& comm() const { return *comm_; }

  /// Room for the ghosts of one vector, n_ghosts x width, so that products need not allocate. Its
  /// content lasts until the next call.
  template <class T>
  std::span<T> ghost_buffer(int width = 1) {
    return as_items<T>(ghost_buffer_, static_cast<std::size_t>(plan_.n_ghosts) * width);
  }

  /// Begins to bring the ghosts. owned: n_owned x width, ghosts: n_ghosts x width, both row-major;
  /// `ghosts` must stay untouched until finish(), `owned` may be read only.
  template <class T>
  void start(std::span<const T> owned, std::span<T> ghosts, int width = 1) {
    start_bytes(reinterpret_cast<const std::byte*>(owned.data()),
                reinterpret_cast<std::byte*>(ghosts.data()),
                sizeof(T) * static_cast<std::size_t>(width));
  }
  /// Between start() and finish(), if wanted: waits for what comes straight from this rank's node,
  /// and sends on what only waited for that. early_ghosts() are filled.
  void advance();
  /// The ghosts that advance() fills, ascending: those the first stage brings from this node.
  std::span<const LocalIndex> early_ghosts() const { return early_ghosts_; }
  /// Completes what start() began: `ghosts` is filled.
  void finish();
  /// start() and finish().
  template <class T>
  void forward(std::span<const T> owned, std::span<T> ghosts, int width = 1) {
    start(owned, ghosts, width);
    finish();
  }

  /// Local. How forward_beside() overlaps from now on, naive if nothing else was said. Ranks may
  /// differ in it. `task` asks of MPI that it was initialised for threads (MPI_THREAD_FUNNELED).
  void set_overlap(Overlap overlap) { overlap_ = overlap; }
  Overlap overlap() const { return overlap_; }
  /// forward(), and work() while it goes on: local, and neither reads the ghosts nor changes what
  /// is owned. On several threads its loops are those of base/parallel.hpp.
  template <class T, class Work>
  void forward_beside(std::span<const T> owned, std::span<T> ghosts, int width, Work&& work);
  /// Local. work(), seen by observe() as such: of callers that use start() and finish() themselves.
  template <class Work>
  void working(Work&& work) {
    clocked(&OverlapTimes::work, work);
  }
  /// Local. From now on forward exchanges add to `times`, which must outlive them, or to nothing.
  void observe(OverlapTimes* times) { times_ = times; }

  /// Begins to add every rank's ghost values to the entries of their owners, the transpose of
  /// forward(); `ghosts` must stay untouched until finish_reverse_add().
  template <class T>
  void start_reverse_add(std::span<const T> ghosts, int width = 1);
  /// Completes it: what arrives is added to `owned`. For a given plan the order of the additions is
  /// fixed.
  template <class T>
  void finish_reverse_add(std::span<T> owned, int width = 1);
  /// Both at once.
  template <class T>
  void reverse_add(std::span<const T> ghosts, std::span<T> owned, int width = 1) {
    start_reverse_add(ghosts, width);
    finish_reverse_add(owned, width);
  }
  /// Both, and work() before anything is added to `owned`, which it may set: as in
  /// forward_beside().
  template <class T, class Work>
  void reverse_add_beside(std::span<const T> ghosts, std::span<T> owned, int width, Work&& work);

  /// Plan::exported_entries(), found when first asked for: most exchanges bring no records. Local.
  std::span<const LocalIndex> exported_entries();
  /// Brings the records of the ghosts; `exported` has those of exported_entries(), in their order.
  template <class T>
  Records<T> forward_records(const Records<T>& exported);
  /// Likewise for the records that `make()` returns: local work; what it throws on one rank all
  /// throw, without an agreement of its own.
  template <std::invocable Make>
  auto forward_records(Make&& make);
  /// Likewise, without any agreement: what failed on this rank, before or here, is left in
  /// `failure`, and comes into the next agreement of the caller. Then nothing is made, and the
  /// records that other ranks get of this one are empty.
  template <std::invocable Make>
  auto forward_records(Make&& make, std::optional<Error>& failure);

  /// Brings every rank's ghost records to their owners: record i of the result is the
  /// concatenation of all records sent to owned entry i, in an order fixed by the plan.
  template <class T>
  Records<T> reverse_records(const Records<T>& ghosts) {
    return reverse_records(ghosts, [](std::span<T> record) { return record.size(); });
  }
  /// Likewise, but a rank that passes an entry's records on first calls combine(record) for the
  /// concatenation of those it has, which returns how many items are left of it, at its front: so
  /// what several ranks of a node contribute crosses the network as one record. Local, and must not
  /// throw; the owner's own records are not combined.
  template <class T, class Combine>
  Records<T> reverse_records(const Records<T>& ghosts, const Combine& combine);
  /// Likewise for the records that `make()` returns, as in forward_records().
  template <std::invocable Make, class Combine>
  auto reverse_records(Make&& make, const Combine& combine);
  /// Likewise, as forward_records() with a failure.
  template <std::invocable Make, class Combine>
  auto reverse_records(Make&& make, const Combine& combine, std::optional<Error>& failure);
  /// Likewise, and work() behind make(), on the other threads in `task` as in forward_beside(), and
  /// behind the messages otherwise: local, and not done where make() failed. What it throws is left
  /// in `failure`, too.
  template <std::invocable Make, class Combine, class Work>
  auto reverse_records_beside(Make&& make, const Combine& combine, std::optional<Error>& failure,
                              Work&& work);

 private:
  enum class Flight { none, forward, reverse };

  void require(Flight expected) const;
  /// Calls f(), and adds its time to one of those that are observed.
  template <class F>
  void clocked(double OverlapTimes::*part, F&& f) {
    if (times_ == nullptr) return f();
    const Timer timer;
    f();
    times_->*part += timer.seconds();
  }
  /// Whether this rank has anything to send or to receive.
  bool has_messages() const;
  /// Whether the first thread is to exchange while others work.
  bool has_talker() const;
  void start_bytes(const std::byte* owned, std::byte* ghosts, std::size_t item_bytes);
  void start_stage(std::size_t s);
  /// Completes the stages from `stage_` on.
  void finish_stages();
  void find_early_ghosts();
  void start_reversed(std::size_t s, const std::byte* contributions);
  /// Completes the stages of reverse_add() from `stage_` down; what arrives for `owned` stays where
  /// it came.
  template <class T>
  void finish_reversed_stages(std::size_t width);
  template <class T>
  void add_returned(std::span<T> owned, std::size_t width);
  /// The first n items of a buffer that grows as needed. Allocated memory suits any item.
  template <class T>
  static std::span<T> as_items(std::vector<std::byte>& buffer, std::size_t n) {
    if (buffer.size() < n * sizeof(T)) buffer.resize(n * sizeof(T));
    return {reinterpret_cast<T*>(buffer.data()), n};
  }
  std::size_t begin_of_stage(std::size_t s) const { return static_cast<std::size_t>(begins_[s]); }
  template <class T>
  Records<T> bring_records(const Records<T>& exported, std::optional<Error>& failure);
  template <class T, class Combine>
  Records<T> return_records(const Records<T>& ghosts, const Combine& combine,
                            std::optional<Error>& failure);

  /// The exported records, then those that arrive, stage by stage, as bytes.
  struct RecordBytes {
    const std::byte* exported;
    std::span<const Offset> exported_offsets;
    std::size_t item_bytes;
    std::vector<detail::RecordMessages> arrived;
  };
  /// The entries sent in each stage by their numbers as records.
  std::span<const std::vector<LocalIndex>> sent_records();
  std::span<const std::byte> record(const RecordBytes& records, LocalIndex number) const;
  /// What arrived at a place of the received part of the pool.
  std::span<const std::byte> arrived(const RecordBytes& records, LocalIndex place) const;
  void run_records(RecordBytes& records, std::optional<Error>& failure);
  /// Sends records back that arrived in stage s: that of the k-th entry received is record(k).
  detail::RecordMessages run_records_back(
      std::size_t s, const std::function<std::span<const std::byte>(LocalIndex)>& record,
      std::optional<Error>& failure);

  std::shared_ptr<const mpi::Comm> comm_;
  Plan plan_;
  Transport transport_;
  Offset max_message_bytes_;
  std::vector<std::unique_ptr<transport::StageCarrier>> carriers_;  // one per stage
  std::vector<LocalIndex> begins_;  // pool position, less n_owned, where each stage's entries begin
  std::vector<LocalIndex> early_ghosts_;
  std::optional<std::vector<LocalIndex>> exported_;                   // once found
  std::optional<std::vector<std::vector<LocalIndex>>> sent_records_;  // likewise
  std::vector<std::vector<std::byte>> send_buffers_;  // one per stage: what is sent, or returned
  std::vector<std::byte> ghost_buffer_;
  std::vector<std::byte> pool_buffer_;  // unused when ghosts are received in place
  std::vector<transport::Part> sends_, receives_;
  Overlap overlap_ = Overlap::naive;
  OverlapTimes* times_ = nullptr;

  // The exchange in flight.
  Flight flight_ = Flight::none;
  std::size_t stage_ = 0;
  const std::byte* owned_ = nullptr;
  std::byte* ghosts_ = nullptr;
  std::byte* pool_ = nullptr;  // the received part; of reverse_add(): what is sent back
  std::size_t item_bytes_ = 0;
};

}  // namespace nodewise::comm

#include "nodewise/comm/exchange_impl.hpp"
