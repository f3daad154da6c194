// Options that are said to have no effect have none.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"

#include "amg_support.hpp"
#include "smoother_support.hpp"

namespace nodewise::amg {
namespace amg_needed_options_test {

using test::test_comm;

Options with(const std::map<std::string, std::string>& values) {
  Options options;
  options.max_coarse_rows = 10;
  const std::vector<NamedValue> all(values.begin(), values.end());
  OptionView<Options> tree(option_fields(), options);
  set_options(tree, all);
  return options;
}

std::string needed_by(std::string_view name, Options options) {
  return nodewise::needed_by(view(options, option_fields()), name);
}

std::vector<Options> some_options() {
  return {with({}),
          with({{"smoother", "jacobi"}, {"aggressive_levels", "1"}}),
          with({{"smoother", "chebyshev"}, {"cycle", "additive"}}),
          with({{"smoother", "ilu0"}, {"coarsening", "pmis"}}),
          with({{"smoother", "fc_jacobi"}}),
          with({{"cycle", "additive"}, {"sweep_order", "coarse_fine"}}),
          with({{"method", "aggregation"}}),
          with({{"method", "aggregation"}, {"candidate_sweeps", "2"}, {"aggregates", "standard"}}),
          with({{"method", "aggregation"}, {"prolongation_sweeps", "0"}, {"smoother", "jacobi"}}),
          with({{"redistribution", "ranks"}}),
          with({{"sparsification", "hybrid_galerkin"}, {"lumping", "strong"}}),
          with({{"sparsification", "non_galerkin"}, {"lumping", "hypre"}}),
          with({{"sparsification", "sparse_galerkin"}, {"adaptive", "true"}}),
          with({{"method", "air"}})};
}

/// Other values of an option.
std::vector<std::string> values_of(const FieldInfo& field) {
  if (field.type == "flag") return {"true", "false"};
  if (field.type == "integer") return {"1", "2"};
  if (field.type == "number") return {"0.05", "0.5", "0.9"};
  std::vector<std::string> values;
  const std::string range = field.range();
  for (std::size_t begin = 0; begin < range.size();) {
    const std::size_t end = std::min(range.find(" | ", begin), range.size());
    values.push_back(range.substr(begin, end - begin));
    begin = end + 3;
  }
  return values;
}

std::vector<double> applied(const Hierarchy<double>& hierarchy) {
  std::vector<double> b, x(static_cast<std::size_t>(hierarchy.layout().n_local()));
  for (std::size_t i = 0; i < x.size(); ++i) b.push_back(hash_uniform(i, 3));
  hierarchy.apply(b, x);
  return x;
}

TEST(NeededOptions, HaveNoEffect) {
  io::GalleryOptions gallery = {.problem = "rotated_fe", .n = 10};
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test_comm(), gallery));
  std::set<std::string> idle, active;
  for (const Options& options : some_options()) {
    const std::vector<double> expected = applied(Hierarchy<double>(A, options));
    Options seen = options;
    visit_fields(view(seen, option_fields()), [&](const OptionSet& set, std::size_t k) {
      const FieldInfo& field = set.info(k);
      const bool is_idle = !needed_by(field.name, options).empty();
      (is_idle ? idle : active).insert(field.name);
      if (!is_idle) return;
      for (const std::string& value : values_of(field)) {
        Options other = options;
        other.set(field.name, value);
        // Not for every smoother, and what the option needs in an additive cycle.
        if (field.name == "sweep_order" && goes_by_points(order_of(other))) continue;
        EXPECT_EQ(applied(Hierarchy<double>(A, other)), expected) << field.name << " " << value;
      }
    });
  }
  EXPECT_EQ(idle.size(), 14u);
  for (const std::string& name : idle) EXPECT_EQ(active.count(name), 1u) << name;
}

TEST(NeededOptions, NeedOthers) {
  EXPECT_EQ(needed_by("coarsening", with({{"method", "aggregation"}})), "method classical or air");
  EXPECT_EQ(needed_by("aggressive_paths", with({})), "aggressive_levels above 0");
  EXPECT_EQ(needed_by("sweep_order", with({{"smoother", "chebyshev"}}))
                .find("smoother l1_gauss_seidel, gauss_seidel"),
            0u);
  EXPECT_EQ(needed_by("smoother", with({{"method", "air"}})), "method classical or aggregation");
  EXPECT_EQ(needed_by("fine_sweeps", with({{"method", "air"}})), "");
  EXPECT_EQ(needed_by("max_levels", with({{"method", "air"}})), "");
  EXPECT_THROW(needed_by("no_such_option", {}), Error);
}

TEST(NeededOptions, OfSmoothersLeaveTheLevelsAlone) {
  Options options;
  int own = 0;
  for (const KnownField& field : known_fields(view(options, option_fields()))) {
    EXPECT_NE(field.info.affects, Affects::unsaid) << field.info.name;
    if (field.owners.empty() || field.owners.front().kind != "smoother") continue;
    ++own;
    EXPECT_TRUE(overlap(field.info.affects, Affects::kernels | Affects::exchanges))
        << field.info.name;
    EXPECT_FALSE(overlap(field.info.affects, Affects::levels)) << field.info.name;
  }
  EXPECT_GE(own, 7);
}

}  // namespace amg_needed_options_test
}  // namespace nodewise::amg
