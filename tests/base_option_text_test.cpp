#include <gtest/gtest.h>

#include "nodewise/base/option_text.hpp"
#include "nodewise/base/row_text.hpp"

namespace nodewise {
namespace base_option_text_test {

std::string dashed(std::string_view name, std::string_view value) {
  if (name == "unknown") return "";
  return "--" + std::string(name) + (value.empty() ? "" : "=" + std::string(value));
}

TEST(OptionText, WritesOptionsAsTheFrontEndDoes) {
  EXPECT_EQ(rewrite_options("take `solver gmres`, or a larger `restart`", dashed),
            "take --solver=gmres, or a larger --restart");
  EXPECT_EQ(rewrite_options("`max_levels`", dashed), "--max_levels");
  EXPECT_EQ(rewrite_options("", dashed), "");
}

TEST(OptionText, LeavesOtherTextInBackquotesAlone) {
  for (const char* text : {"no options", "`unknown 3` of `unknown`", "a ` alone", "`Upper case`",
                           "`file-1.mtx`", "``", "`3 levels`"}) {
    EXPECT_EQ(rewrite_options(text, dashed), text);
  }
  EXPECT_EQ(rewrite_options("it`s `restart` here", dashed), "it`s --restart here");
}

TEST(OptionText, WritesOptionsOfErrorsAsTheFrontEndDoes) {
  const auto dashed_name = [](std::string_view name) { return dashed(name, ""); };
  EXPECT_EQ(rewrite_option_names("option max_levels: '0' is none, option n neither", dashed_name),
            "--max_levels: '0' is none, --n neither");
  for (const char* text : {"", "no options", "there is option unknown", "an option: none"}) {
    EXPECT_EQ(rewrite_option_names(text, dashed_name), text);
  }
}

TEST(OptionText, CountsRowsFromOne) {
  EXPECT_EQ(rows_from_one(row_text(6) + ", is empty, and so is " + row_text(41)),
            "row 7 is empty, and so is row 42");
  EXPECT_EQ(rows_from_one("no row 6"), "no row 6");
}

}  // namespace base_option_text_test
}  // namespace nodewise
