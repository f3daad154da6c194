#include "amgcl_card_peer.hpp"

#include <dlfcn.h>

#include "nodewise/base/error.hpp"

#include "amgcl_card.hpp"

namespace nodewise::bench {

namespace {

using Solve = decltype(nodewise_amgcl_card);

/// The library lies beside the program, or where the loader looks.
struct AmgclLibrary {
  void* handle = ::dlopen("libnodewise_amgcl_card.so", RTLD_NOW | RTLD_LOCAL);
  std::string why_none = handle == nullptr ? ::dlerror() : "";
  Solve* solve = handle == nullptr
                     ? nullptr
                     : reinterpret_cast<Solve*>(::dlsym(handle, "nodewise_amgcl_card"));
};

const AmgclLibrary& amgcl_library() {
  static const AmgclLibrary loaded;
  return loaded;
}

}  // namespace

std::string why_no_amgcl() {
  return amgcl_library().why_none;
}

AmgclRun run_amgcl(const kernels::Csr<double>& A, std::span<const double> b, double tolerance,
                   int repeats) {
  AmgclRun run;
  run.x.resize(b.size());
  std::vector<double> samples(static_cast<std::size_t>(repeats));
  const std::vector<std::ptrdiff_t> begins(A.row_ptr.begin(), A.row_ptr.end());
  AmgclCardCall call = {A.n_rows,
                        begins.data(),
                        A.cols.data(),
                        A.vals.data(),
                        b.data(),
                        tolerance,
                        repeats,
                        run.x.data(),
                        samples.data(),
                        0,
                        0,
                        {}};
  if (amgcl_library().solve == nullptr || (*amgcl_library().solve)(&call) != 0) {
    throw Error(ErrorCode::internal, std::string("AMGCL: ") + call.message);
  }
  run.solve = spread(samples);
  run.setup_s = call.setup_s;
  run.iterations = call.iterations;
  return run;
}

}  // namespace nodewise::bench
