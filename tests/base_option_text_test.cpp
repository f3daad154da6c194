#include <gtest/gtest.h>

#include "nodewise/base/option_text.hpp"

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

}  // namespace base_option_text_test
}  // namespace nodewise
