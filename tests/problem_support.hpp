// Model problems with options of their own.
#pragma once

#include <string>

#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/convection.hpp"
#include "nodewise/io/problems/random.hpp"
#include "nodewise/io/problems/rotated.hpp"

namespace nodewise::test {

using io::problems::Flow;

inline io::GalleryOptions flow_problem(const std::string& name, int n,
                                       const io::problems::ConvectionOptions& own) {
  io::GalleryOptions options{.problem = name, .n = n};
  options.problem.options<io::problems::ConvectionOptions>() = own;
  return options;
}

inline io::GalleryOptions rotated_problem(const std::string& name, int n,
                                          const io::problems::RotatedOptions& own) {
  io::GalleryOptions options{.problem = name, .n = n};
  options.problem.options<io::problems::RotatedOptions>() = own;
  return options;
}

inline io::GalleryOptions random_problem(int n, const io::problems::RandomOptions& own) {
  io::GalleryOptions options{.problem = "random", .n = n};
  options.problem.options<io::problems::RandomOptions>() = own;
  return options;
}

}  // namespace nodewise::test
