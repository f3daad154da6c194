// The size of a matrix that is not there yet.
#pragma once

namespace nodewise::io {

/// Of a matrix that is yet to be read or made; more than any index, where a header lies.
struct MatrixSize {
  double rows = 0;
  double nonzeros = 0;
};

}  // namespace nodewise::io
