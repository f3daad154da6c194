// Numbers of ranks that the caller gives.
#include <algorithm>

#include "nodewise/amg/redistribute/redistribution_method.hpp"
#include "nodewise/base/coarse_level_list.hpp"

namespace nodewise::amg {

namespace {

constexpr int most_ranks = 1'000'000'000;

Field<ActiveRankOptions> active_ranks_field() {
  return coarse_level_field(
      "active_ranks", &ActiveRankOptions::active_ranks,
      "The ranks that have rows of levels 1, 2, ..., such as 64,16,1; the last number is for "
      "all deeper levels",
      ">= 1",
      [](const std::string& name, std::string_view word) {
        return static_cast<int>(detail::parse_integer(name, word, 1, most_ranks));
      },
      [](int ranks) { return std::to_string(ranks); });
}

template <class O>
Field<O> redundant_field(bool O::*member) {
  return field("redundant", member,
               "A level that is on one rank is copied to one rank of each node, which solve it and "
               "those below it without sending anything");
}

template <class O>
bool is_redundant(const Redistribution& choice) {
  return choice.options<O>().redundant;
}

std::span<const Field<ActiveRankOptions>> active_rank_fields() {
  static const std::vector<Field<ActiveRankOptions>> fields = {
      active_ranks_field(), redundant_field(&ActiveRankOptions::redundant)};
  return fields;
}

std::span<const Field<RowOptions>> row_fields() {
  static const std::vector<Field<RowOptions>> fields = {
      field("rows_per_rank", &RowOptions::rows_per_rank,
            "Coarse levels are on so few ranks that each has as many rows at least", 1),
      redundant_field(&RowOptions::redundant)};
  return fields;
}

int given_ranks(const Redistribution& choice, const LevelSize& next) {
  return of_coarse_level(choice.options<ActiveRankOptions>().active_ranks, next.level);
}

int ranks_for_rows(const Redistribution& choice, const LevelSize& next) {
  const GlobalIndex rows = choice.options<RowOptions>().rows_per_rank;
  return static_cast<int>(std::min<GlobalIndex>(next.rows / rows, next.active_ranks));
}

}  // namespace

int ranks_as_before(const Redistribution&, const LevelSize& next) {
  return next.active_ranks;
}

bool makes_copies(const Redistribution& redistribution) {
  return redistribution->copies != nullptr && redistribution->copies(redistribution);
}

int ranks_of(const Redistribution& redistribution, const LevelSize& next) {
  const int ranks = (*redistribution->ranks)(redistribution, next);
  return std::clamp(ranks, 1, std::max(1, next.active_ranks));
}

const RedistributionMethod& no_redistribution() {
  static const RedistributionMethod method = {
      {"none", "rows stay on the ranks whose rows they come from", ""}, false, ranks_as_before};
  return method;
}

const RedistributionMethod& redistribution_to_ranks() {
  static const RedistributionMethod method = {
      {"ranks", "as many ranks as active_ranks says, level by level", "",
       own_options(active_rank_fields)},
      true,
      given_ranks,
      is_redundant<ActiveRankOptions>};
  return method;
}

const RedistributionMethod& redistribution_by_rows() {
  static const RedistributionMethod method = {
      {"rows", "as many ranks as leave each rows_per_rank rows, as PETSc's and MueLu's thresholds",
       "", own_options(row_fields)},
      true,
      ranks_for_rows,
      is_redundant<RowOptions>};
  return method;
}

}  // namespace nodewise::amg
