#include "cusparse_peer.hpp"

#include <cmath>
#include <cusparse.h>
#include <dlfcn.h>
#include <span>
#include <vector>

#include "nodewise/base/error.hpp"
#include "nodewise/device/buffer.hpp"

#include "device_timing.hpp"

namespace nodewise::bench {

namespace {

using device::Buffer;
using device::Cuda;

constexpr std::int64_t slice_rows = 32;

/// The functions that are used, by their names in the library.
struct Library {
  void* handle = ::dlopen("libcusparse.so.12", RTLD_NOW | RTLD_LOCAL);

  template <class F>
  F* find(const char* name) const {
    return reinterpret_cast<F*>(::dlsym(handle, name));
  }
  decltype(cusparseCreate)* create = find<decltype(cusparseCreate)>("cusparseCreate");
  decltype(cusparseDestroy)* destroy = find<decltype(cusparseDestroy)>("cusparseDestroy");
  decltype(cusparseSetStream)* set_stream = find<decltype(cusparseSetStream)>("cusparseSetStream");
  decltype(cusparseCreateCsr)* create_csr = find<decltype(cusparseCreateCsr)>("cusparseCreateCsr");
  decltype(cusparseCreateSlicedEll)* create_sell =
      find<decltype(cusparseCreateSlicedEll)>("cusparseCreateSlicedEll");
  decltype(cusparseCreateDnVec)* create_vector =
      find<decltype(cusparseCreateDnVec)>("cusparseCreateDnVec");
  decltype(cusparseDestroySpMat)* destroy_matrix =
      find<decltype(cusparseDestroySpMat)>("cusparseDestroySpMat");
  decltype(cusparseDestroyDnVec)* destroy_vector =
      find<decltype(cusparseDestroyDnVec)>("cusparseDestroyDnVec");
  decltype(cusparseSpMV_bufferSize)* buffer_size =
      find<decltype(cusparseSpMV_bufferSize)>("cusparseSpMV_bufferSize");
  decltype(cusparseSpMV_preprocess)* preprocess =
      find<decltype(cusparseSpMV_preprocess)>("cusparseSpMV_preprocess");
  decltype(cusparseSpMV)* multiply = find<decltype(cusparseSpMV)>("cusparseSpMV");
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

void require(cusparseStatus_t status, const char* what) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw Error(ErrorCode::internal,
              std::string("cuSPARSE: ") + what + ": status " + std::to_string(status));
}

/// Slices of 32 rows, each as wide as its longest row, by columns; places without an entry name
/// column -1.
template <class T>
struct SlicedEll {
  explicit SlicedEll(const kernels::Csr<T>& A) {
    for (std::int64_t begin = 0; begin < A.n_rows; begin += slice_rows) add_slice(A, begin);
  }

  std::vector<std::int32_t> offsets = {0}, cols;
  std::vector<T> vals;

 private:
  void add_slice(const kernels::Csr<T>& A, std::int64_t begin) {
    const std::int64_t end = std::min<std::int64_t>(A.n_rows, begin + slice_rows);
    Offset width = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto row = static_cast<LocalIndex>(i);
      width = std::max(width, A.end(row) - A.begin(row));
    }
    for (Offset k = 0; k < width; ++k) {
      for (std::int64_t i = begin; i < begin + slice_rows; ++i) {
        const auto row = static_cast<LocalIndex>(i);
        const bool is_there = i < end && A.begin(row) + k < A.end(row);
        const auto place = is_there ? static_cast<std::size_t>(A.begin(row) + k) : 0;
        cols.push_back(is_there ? A.cols[place] : -1);
        vals.push_back(is_there ? A.vals[place] : T{});
      }
    }
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
};

template <class T>
class Peer {
 public:
  static constexpr cudaDataType type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;

  explicit Peer(const kernels::Csr<T>& A)
      : A_(A),
        ones_(static_cast<std::size_t>(A.n_cols), T{1}),
        x_(queue_, std::span<const T>(ones_)),
        y_(static_cast<std::size_t>(A.n_rows)) {
    require(library().create(&handle_), "a handle");
    require(library().set_stream(handle_, static_cast<cudaStream_t>(queue_.stream())), "a stream");
    require(library().create_vector(&vector_x_, A.n_cols, x_.data(), type), "a vector");
    require(library().create_vector(&vector_y_, A.n_rows, y_.data(), type), "a vector");
  }
  ~Peer() {
    library().destroy_vector(vector_x_);
    library().destroy_vector(vector_y_);
    library().destroy(handle_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  Spread time_csr(int repeats) {
    std::vector<std::int32_t> offsets;
    for (LocalIndex i = 0; i < A_.n_rows; ++i) {
      offsets.push_back(static_cast<std::int32_t>(A_.begin(i)));
    }
    offsets.push_back(static_cast<std::int32_t>(A_.vals.size()));
    const Buffer<std::int32_t, Cuda> starts(queue_, std::span<const std::int32_t>(offsets));
    const Buffer<std::int32_t, Cuda> cols(queue_, std::span<const std::int32_t>(A_.cols));
    const Buffer<T, Cuda> vals(queue_, std::span<const T>(A_.vals));
    cusparseSpMatDescr_t matrix = nullptr;
    require(library().create_csr(
                &matrix, A_.n_rows, A_.n_cols, nnz(), const_cast<std::int32_t*>(starts.data()),
                const_cast<std::int32_t*>(cols.data()), const_cast<T*>(vals.data()),
                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
            "a matrix");
    return time(matrix, CUSPARSE_SPMV_CSR_ALG1, repeats);
  }

  Spread time_sliced_ell(int repeats) {
    const SlicedEll<T> slices(A_);
    const Buffer<std::int32_t, Cuda> offsets(queue_, std::span<const std::int32_t>(slices.offsets));
    const Buffer<std::int32_t, Cuda> cols(queue_, std::span<const std::int32_t>(slices.cols));
    const Buffer<T, Cuda> vals(queue_, std::span<const T>(slices.vals));
    cusparseSpMatDescr_t matrix = nullptr;
    require(library().create_sell(
                &matrix, A_.n_rows, A_.n_cols, nnz(), static_cast<std::int64_t>(slices.vals.size()),
                slice_rows, const_cast<std::int32_t*>(offsets.data()),
                const_cast<std::int32_t*>(cols.data()), const_cast<T*>(vals.data()),
                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
            "a matrix in slices");
    return time(matrix, CUSPARSE_SPMV_SELL_ALG1, repeats);
  }

 private:
  std::int64_t nnz() const { return static_cast<std::int64_t>(A_.vals.size()); }

  Spread time(cusparseSpMatDescr_t matrix, cusparseSpMVAlg_t algorithm, int repeats) {
    const T one = 1;
    const T zero = 0;
    constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    std::size_t bytes = 0;
    require(library().buffer_size(handle_, plain, &one, matrix, vector_x_, &zero, vector_y_, type,
                                  algorithm, &bytes),
            "the size of a buffer");
    Buffer<std::byte, Cuda> buffer(bytes);
    require(library().preprocess(handle_, plain, &one, matrix, vector_x_, &zero, vector_y_, type,
                                 algorithm, buffer.data()),
            "looking at a matrix");
    const Spread s = seconds_of(queue_, repeats, [&] {
      require(library().multiply(handle_, plain, &one, matrix, vector_x_, &zero, vector_y_, type,
                                 algorithm, buffer.data()),
              "a product");
    });
    library().destroy_matrix(matrix);
    check_row_sums();
    return s;
  }

  void check_row_sums() {
    std::vector<T> y(y_.size());
    y_.get(queue_, std::span<T>(y));
    for (LocalIndex i = 0; i < A_.n_rows; ++i) {
      double sum = 0;
      double size = 0;
      for (Offset k = A_.begin(i); k < A_.end(i); ++k) {
        const auto value = static_cast<double>(A_.vals[static_cast<std::size_t>(k)]);
        sum += value;
        size += std::abs(value);
      }
      if (!(std::abs(y[static_cast<std::size_t>(i)] - sum) <= 1e-5 * size)) {
        throw Error(ErrorCode::internal, "cuSPARSE: a product is not the row sums");
      }
    }
  }

  const kernels::Csr<T>& A_;
  device::Queue<Cuda> queue_;
  std::vector<T> ones_;
  Buffer<T, Cuda> x_, y_;
  cusparseHandle_t handle_ = nullptr;
  cusparseDnVecDescr_t vector_x_ = nullptr, vector_y_ = nullptr;
};

}  // namespace

std::string why_no_cusparse() {
  if (library().handle == nullptr) return "there is no libcusparse.so.12";
  if (library().create_sell == nullptr) return "libcusparse.so.12 is too old for sliced ELL";
  return {};
}

template <class T>
CusparseTimes time_cusparse(const kernels::Csr<T>& A, int repeats) {
  Peer<T> peer(A);
  return {peer.time_csr(repeats), peer.time_sliced_ell(repeats)};
}

template CusparseTimes time_cusparse(const kernels::Csr<float>&, int);
template CusparseTimes time_cusparse(const kernels::Csr<double>&, int);

}  // namespace nodewise::bench
