// The tables of `nodewise predict --details`.
#pragma once

#include "nodewise/predict/result.hpp"

#include "cli/print/console.hpp"

namespace nodewise::cli {

/// Every exchange of every level over every route, and the curve of strong scaling.
void print_prediction_tables(Console& console, const predict::Result& result);

}  // namespace nodewise::cli
