// The table of option fields: parsing, ranges, suggestions.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/base/by_level.hpp"
#include "nodewise/base/options.hpp"
#include "nodewise/solve/report.hpp"

namespace nodewise {
namespace base_options_test {

using testing::HasSubstr;
using testing::Not;

enum class Colour { red, green };

struct Sample {
  int count = 3;
  double ratio = 0.5;
  bool loud = false;
  Colour colour = Colour::red;
  ByLevel<Colour> colours = Colour::red;
};

const std::vector<Field<Sample>>& fields() {
  static const std::vector<Field<Sample>> table = {
      field("count", &Sample::count, "How many.", 1, 10),
      field("ratio", &Sample::ratio, "How much.", 0.0, 1.0),
      field("loud", &Sample::loud, "Whether."),
      field("colour", &Sample::colour, "Which.", {"red", "green"}),
      field("colours", &Sample::colours, "Which, by level.", {"red", "green"}),
  };
  return table;
}

/// The message of the error that setting an option gives; empty where it succeeds.
std::string failure(std::string_view name, std::string_view value, ErrorCode expected) {
  Sample sample;
  try {
    set_option<Sample>(sample, fields(), name, value);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected);
    return error.what();
  }
  return "";
}

TEST(Options, ValuesAreParsedAndPrinted) {
  Sample sample;
  set_option<Sample>(sample, fields(), "count", "7");
  set_option<Sample>(sample, fields(), "ratio", "2.5e-1");
  set_option<Sample>(sample, fields(), "loud", "yes");
  set_option<Sample>(sample, fields(), "colour", "green");
  EXPECT_EQ(sample.count, 7);
  EXPECT_EQ(sample.ratio, 0.25);
  EXPECT_TRUE(sample.loud);
  EXPECT_EQ(sample.colour, Colour::green);
  EXPECT_EQ(fields()[0].get(sample), "7");
  EXPECT_EQ(fields()[1].get(sample), "0.25");
  EXPECT_EQ(fields()[2].get(sample), "true");
  EXPECT_EQ(fields()[3].get(sample), "green");
}

TEST(Options, EveryWrongValueNamesTheFieldAndTheRange) {
  const ErrorCode wrong = ErrorCode::invalid_argument;
  for (const char* text : {"0", "11", "3.5", "", "x", "3 ", "99999999999999999999"}) {
    EXPECT_THAT(failure("count", text, wrong), HasSubstr("option count")) << text;
    EXPECT_THAT(failure("count", text, wrong), HasSubstr("[1, 10]")) << text;
  }
  // NaN is in no range.
  for (const char* text : {"-0.1", "1.1", "nan", "inf", "", "0.5x"}) {
    EXPECT_THAT(failure("ratio", text, wrong), HasSubstr("[0, 1]")) << text;
  }
  EXPECT_THAT(failure("loud", "maybe", wrong), HasSubstr("true or false"));
  EXPECT_THAT(failure("colour", "gren", wrong), HasSubstr("did you mean 'green'?"));
  EXPECT_THAT(failure("colour", "blue", wrong), HasSubstr("red, green"));
  EXPECT_EQ(failure("count", "10", wrong), "");
  EXPECT_EQ(failure("ratio", "1", wrong), "");
}

TEST(Options, ChoicesByLevel) {
  Sample sample;
  EXPECT_EQ(fields()[4].get(sample), "red");
  set_option<Sample>(sample, fields(), "colours", "red,green,red,green");
  EXPECT_EQ(fields()[4].get(sample), "red,green,red,green");
  EXPECT_EQ(sample.colours.size(), 4U);
  EXPECT_EQ(sample.colours.on(0), Colour::red);
  EXPECT_EQ(sample.colours.on(1), Colour::green);
  EXPECT_EQ(sample.colours.on(3), Colour::green);
  EXPECT_EQ(sample.colours.on(99), Colour::green);  // the last holds for all below
  set_option<Sample>(sample, fields(), "colours", "green");
  EXPECT_EQ(sample.colours, ByLevel<Colour>(Colour::green));
  set_option<Sample>(sample, fields(), "colours", "");
  EXPECT_TRUE(sample.colours.empty());
  EXPECT_EQ(sample.colours.on(2), Colour::red);  // the first of all there are
  const ErrorCode wrong = ErrorCode::invalid_argument;
  EXPECT_THAT(failure("colours", "red,gren", wrong), HasSubstr("did you mean 'green'?"));
  EXPECT_THAT(failure("colours", "red,,green", wrong), HasSubstr("option colours: ''"));
  EXPECT_THAT(failure("colours", "red,", wrong), HasSubstr("option colours: ''"));
  EXPECT_THAT(failure("colours", ",", wrong), HasSubstr("option colours: ''"));
}

TEST(Options, AWrongValueChangesNothing) {
  Sample sample;
  EXPECT_THROW(set_option<Sample>(sample, fields(), "count", "11"), Error);
  EXPECT_EQ(sample.count, 3);
}

TEST(Options, AnUnknownNameGetsTheNearest) {
  const ErrorCode unknown = ErrorCode::unknown_option;
  EXPECT_THAT(failure("cuont", "1", unknown), HasSubstr("did you mean 'count'?"));
  EXPECT_THAT(failure("color", "red", unknown), HasSubstr("did you mean 'colour'?"));
  const std::string far = failure("tolerance_of_the_whole", "1", unknown);
  EXPECT_THAT(far, HasSubstr("no option 'tolerance_of_the_whole'"));
  EXPECT_THAT(far, Not(HasSubstr("did you mean")));
}

TEST(Options, NearestName) {
  const std::vector<std::string> names = {"restart", "tolerance"};
  EXPECT_EQ(nearest_name("tolerence", names), 1);
  EXPECT_EQ(nearest_name("restart", names), 0);
  EXPECT_EQ(nearest_name("zzzzzzz", names), -1);
  EXPECT_EQ(nearest_name("", names), -1);
  EXPECT_EQ(nearest_name("x", {}), -1);
}

TEST(SolveOptions, TheTableCoversTheStructAndItsDefaults) {
  const auto table = solve::option_fields();
  ASSERT_EQ(table.size(), 5U);
  solve::Options changed{.tolerance = 0.25,
                         .absolute_tolerance = 1e-3,
                         .norm = solve::ResidualNorm::natural,
                         .max_iterations = 7,
                         .stagnation_window = 9};
  solve::Options copy;
  for (const auto& f : table) {
    EXPECT_NO_THROW(f.set(copy, f.get(copy))) << f.name;  // the default is in range
    EXPECT_NE(f.meaning, "");
    f.set(copy, f.get(changed));
  }
  EXPECT_EQ(copy.tolerance, 0.25);
  EXPECT_EQ(copy.absolute_tolerance, 1e-3);
  EXPECT_EQ(copy.norm, solve::ResidualNorm::natural);
  EXPECT_EQ(copy.max_iterations, 7);
  EXPECT_EQ(copy.stagnation_window, 9);
  EXPECT_THROW(set_option<solve::Options>(copy, table, "tolerance", "-1"), Error);
  EXPECT_THROW(set_option<solve::Options>(copy, table, "max_iterations", "-1"), Error);
}

TEST(SolveOptions, OutcomesHaveDistinctNames) {
  std::vector<std::string> names;
  for (int k = 0; k <= static_cast<int>(solve::Outcome::interrupted); ++k) {
    names.emplace_back(solve::to_string(static_cast<solve::Outcome>(k)));
    EXPECT_NE(names.back(), "unknown");
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(names[i], names[j]);
  }
}

}  // namespace base_options_test
}  // namespace nodewise
