// Options of reports, to repeat a run by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/report/read_options.hpp"

#include "collective_error.hpp"

namespace nodewise::report {
namespace report_read_options_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(ReadOptions, TakesReportsAndPlainObjects) {
  const auto options = ElementsAre(Pair("solver", "cg"), Pair("tolerance", "1e-06"),
                                   Pair("quiet", "true"), Pair("machine", std::nullopt));
  const std::string plain =
      R"({"solver": "cg", "tolerance": 1e-06, "quiet": true, "machine": null})";
  EXPECT_THAT(read_options(plain, "f"), options);
  EXPECT_THAT(read_options(R"({"program": {}, "options": )" + plain + "}", "f"), options);
}

TEST(ReadOptions, RefusesOtherTexts) {
  for (const char* text : {"", "[1]", "solver: cg", R"({"options": 3})"}) {
    const auto error = test::error_of([&] { read_options(text, "o.json"); });
    ASSERT_TRUE(error.has_value()) << text;
    EXPECT_EQ(error->code(), ErrorCode::file_format);
    EXPECT_THAT(error->what(), HasSubstr("o.json is neither a report"));
  }
}

}  // namespace report_read_options_test
}  // namespace nodewise::report
