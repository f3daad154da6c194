// What `nodewise predict --memory device` prints.
#pragma once

#include "nodewise/predict/result.hpp"

#include "cli/print/console.hpp"

namespace nodewise::cli {

/// What a cycle exchanges by every way of data between GPUs, which is best where, and from how many
/// messages on copies win.
void print_gpu_answer(Console& console, const predict::Result& result);

/// Every level over every route by every way.
void print_gpu_tables(Console& console, const predict::GpuPrediction& gpu);

}  // namespace nodewise::cli
