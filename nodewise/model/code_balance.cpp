#include "nodewise/model/code_balance.hpp"

#include <algorithm>

namespace nodewise::model {

KernelTraffic& KernelTraffic::operator+=(const KernelTraffic& other) {
  flops += other.flops;
  matrix_bytes += other.matrix_bytes;
  read_bytes += other.read_bytes;
  written_bytes += other.written_bytes;
  return *this;
}

KernelTraffic operator+(KernelTraffic a, const KernelTraffic& b) {
  return a += b;
}

KernelTraffic operator*(double times, KernelTraffic a) {
  a.flops *= times;
  a.matrix_bytes *= times;
  a.read_bytes *= times;
  a.written_bytes *= times;
  return a;
}

namespace {

double matrix_bytes(const StoredMatrix& A) {
  return A.nonzeros * (A.value_bytes + A.column_bytes) + A.rows * A.row_bytes;
}

}  // namespace

KernelTraffic product_traffic(const StoredMatrix& A, int width) {
  const double vector = width * A.value_bytes;
  return {2 * A.nonzeros * width, matrix_bytes(A), A.columns * vector, A.rows * vector};
}

KernelTraffic transposed_traffic(const StoredMatrix& A) {
  return {2 * A.nonzeros, matrix_bytes(A), A.rows * A.value_bytes, 2 * A.columns * A.value_bytes};
}

KernelTraffic vector_traffic(double rows, int read, int written, double flops_a_row,
                             double value_bytes) {
  return {rows * flops_a_row, 0, rows * read * value_bytes, rows * written * value_bytes};
}

double least_s(const KernelTraffic& traffic, const MemoryBandwidth& bandwidth) {
  const double writing = 2 * traffic.written_bytes;
  const double reading = traffic.bytes() - writing;
  const double only_reading = std::max(reading - writing, 0.0);
  return (traffic.bytes() - only_reading) / bandwidth.triad_bytes_per_s +
         only_reading / bandwidth.reading_bytes_per_s;
}

double kappa(double seconds, const KernelTraffic& traffic, double nonzeros,
             const MemoryBandwidth& bandwidth) {
  return (seconds - least_s(traffic, bandwidth)) * bandwidth.reading_bytes_per_s / nonzeros;
}

}  // namespace nodewise::model
