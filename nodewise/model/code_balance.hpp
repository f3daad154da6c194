// The bytes that a sparse kernel must move between memory and caches, and the time that takes at
// least. By the code balance of Schubert, Hager, Fehske, Wellein, "Hybrid-parallel sparse
// matrix-vector multiplication with explicit communication overlap", 2011, eq. 1 and 2, counted
// from what is stored.
#pragma once

namespace nodewise::model {

/// Bytes between memory and caches, if whatever is used again is still in a cache then, and flops.
struct KernelTraffic {
  double flops = 0;
  double matrix_bytes = 0;   ///< values, columns, row pointers
  double read_bytes = 0;     ///< of vectors that are only read
  double written_bytes = 0;  ///< of vectors that are written, each of which is read before: kept up
                             ///< to date, or allocated in the cache

  double bytes() const { return matrix_bytes + read_bytes + 2 * written_bytes; }
  KernelTraffic& operator+=(const KernelTraffic& other);
  bool operator==(const KernelTraffic&) const = default;
};
KernelTraffic operator+(KernelTraffic a, const KernelTraffic& b);
KernelTraffic operator*(double times, KernelTraffic a);

/// A matrix in compressed rows. `row_bytes` is what a row has besides its entries.
struct StoredMatrix {
  double rows = 0;
  double columns = 0;  ///< that are in use
  double nonzeros = 0;
  double value_bytes = 8;
  double column_bytes = 4;
  double row_bytes = 8;
};

/// Local. A product with `width` vectors side by side, set or added to: eq. 1 with kappa = 0, and
/// the row pointers, which the paper leaves out. The part with the ghosts is a product of its own,
/// whose rows are those that have ghosts: what eq. 2 adds for all rows.
KernelTraffic product_traffic(const StoredMatrix& A, int width = 1);

/// Local. A product with the transpose: its result is set to zero first, and then added to.
KernelTraffic transposed_traffic(const StoredMatrix& A);

/// Local. A loop over vectors: so many read only, so many written.
KernelTraffic vector_traffic(double rows, int read, int written, double flops_a_row,
                             double value_bytes = 8);

/// Bytes a second that the memory moves, the allocation of written cache lines included.
struct MemoryBandwidth {
  double triad_bytes_per_s = 0;    ///< a = b + s c: as much is read only as goes to what is written
  double reading_bytes_per_s = 0;  ///< of nothing but reading
};

/// Local. The least time for such traffic: a triad's bandwidth for what is written and as much of
/// what is read, that of reading for the rest.
double least_s(const KernelTraffic& traffic, const MemoryBandwidth& bandwidth);

/// Local. Bytes moved for each of `nonzeros` entries beyond the traffic, if all of the time beyond
/// least_s() went into reading: the kappa of eq. 1, for one vector. Below zero where the kernel is
/// faster than the measured bandwidth lets it be, as with data that are in a cache.
double kappa(double seconds, const KernelTraffic& traffic, double nonzeros,
             const MemoryBandwidth& bandwidth);

}  // namespace nodewise::model
