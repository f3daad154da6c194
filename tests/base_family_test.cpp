// Families of methods that describe themselves, choices of them, and options as a tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/base/by_level.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise {
namespace base_family_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Tool : MethodInfo {
  Required<bool> is_sharp;
  static Family<Tool>& family();
};

struct SawOptions {
  int teeth = 20;
  double weight = 1.5;
};
std::span<const Field<SawOptions>> saw_fields() {
  static const std::vector<Field<SawOptions>> fields = {
      field("teeth", &SawOptions::teeth, "How many teeth", 1, 100).affecting(Affects::kernels),
      field("weight", &SawOptions::weight, "How heavy", 0.0),
  };
  return fields;
}

struct HammerOptions {
  double weight = 3;
};
std::span<const Field<HammerOptions>> hammer_fields() {
  static const std::vector<Field<HammerOptions>> fields = {
      field("weight", &HammerOptions::weight, "How heavy", 0.0)};
  return fields;
}

const Tool saw = {{"saw", "cuts", "", own_options(saw_fields)}, true};
const Tool hammer = {{"hammer", "hits", "", own_options(hammer_fields)}, false};
/// Measuring is done in an hour, and by one unless there are three.
const Tool tape = {{.name = "tape",
                    .summary = "measures",
                    .source = "",
                    .fixes = {{"hours", "1"}},
                    .ignores = {{"helpers", {"2"}}}},
                   false};

Family<Tool>& Tool::family() {
  static Family<Tool> tools("tool", {&saw, &hammer, &tape}, {"any", "what lies nearest"});
  return tools;
}

struct Job {
  int hours = 8;
  Choice<Tool> tool = "saw";
  int helpers = 0;
  int helper_age = 30;
  ByLevel<Choice<Tool>> spare;
};
std::span<const Field<Job>> job_fields() {
  static const std::vector<Field<Job>> fields = {
      field("hours", &Job::hours, "How long", 1, 24),
      field("tool", &Job::tool, "By which means").affecting(Affects::levels).common('t'),
      field("helpers", &Job::helpers, "How many", 0, 9),
      field("helper_age", &Job::helper_age, "How old they are", 16, 99)
          .needing("helpers above 0", [](const Job& job) { return job.helpers > 0; }),
      field("spare", &Job::spare, "What to take on each floor"),
  };
  return fields;
}

std::string failure(const std::function<void()>& f, ErrorCode code) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "";
}

std::string failure(Job job, const char* name, const char* value,
                    ErrorCode code = ErrorCode::invalid_argument) {
  return failure([&] { set_option(job, job_fields(), name, value); }, code);
}

TEST(Families, FindTheirMembersByName) {
  EXPECT_THAT(Tool::family().names(), ElementsAre("saw", "hammer", "tape"));
  EXPECT_TRUE(Tool::family().find("saw").is_sharp);
  EXPECT_THAT(failure([] { Tool::family().find("hamer"); }, ErrorCode::invalid_argument),
              HasSubstr("there is no tool 'hamer'; did you mean 'hammer'?"));
  EXPECT_EQ(Tool::family().words().front().name, "any");
}

TEST(Families, TakeACallersOwnMethod) {
  static const Tool pliers = {{"pliers", "holds", ""}, false};
  const std::size_t before = Tool::family().size();
  if (before == 3) Tool::family().add(pliers);
  EXPECT_TRUE(Choice<Tool>("pliers") == "pliers");
  EXPECT_THAT(failure([] { Tool::family().add(pliers); }, ErrorCode::invalid_argument),
              HasSubstr("taken"));
  static const Tool odd = {{"Odd Name", "", ""}, false};
  EXPECT_THAT(failure([] { Tool::family().add(odd); }, ErrorCode::invalid_argument),
              HasSubstr("lower-case"));
}

TEST(Choices, HoldTheOptionsOfTheirMethod) {
  Choice<Tool> tool = "saw";
  EXPECT_EQ(tool.options<SawOptions>().teeth, 20);
  tool.options<SawOptions>().teeth = 7;
  Choice<Tool> copy = tool;
  EXPECT_TRUE(copy == tool);
  copy.options<SawOptions>().teeth = 8;
  EXPECT_FALSE(copy == tool);
  EXPECT_TRUE(copy == "saw");
  EXPECT_EQ(tool.options<SawOptions>().teeth, 7);
  EXPECT_FALSE(tool.has_options<HammerOptions>());
  EXPECT_THROW(tool.options<HammerOptions>(), Error);
  EXPECT_TRUE(Choice<Tool>("any").is_automatic());
  EXPECT_EQ(Choice<Tool>("any").name(), "any");
  EXPECT_THROW(static_cast<void>(*Choice<Tool>("any")), Error);
  EXPECT_THROW(static_cast<void>(tool == "swa"), Error);
}

TEST(Choices, KeepWhatAnotherMethodHasToo) {
  Choice<Tool> tool = "saw";
  tool.options<SawOptions>().weight = 2.25;
  tool.choose("hammer");
  EXPECT_EQ(tool.options<HammerOptions>().weight, 2.25);
  tool.choose("tape");
  EXPECT_EQ(tool.own(), nullptr);
}

TEST(OptionTrees, AreSetByFlatNames) {
  Job job;
  set_option(job, job_fields(), "teeth", "33");
  EXPECT_EQ(job.tool.options<SawOptions>().teeth, 33);
  set_option(job, job_fields(), "tool", "hammer");
  set_option(job, job_fields(), "weight", "4");
  EXPECT_EQ(job.tool.options<HammerOptions>().weight, 4);
  set_option(job, job_fields(), "spare", "saw,any,tape");
  EXPECT_TRUE(job.spare.on(2) == "tape");
  EXPECT_EQ(get_option(view(job, job_fields()), "spare"), "saw,any,tape");
  EXPECT_EQ(get_option(view(job, job_fields()), "weight"), "4");
}

TEST(OptionTrees, RefuseWhatIsOfAnotherMethod) {
  Job job;
  job.tool = "tape";
  EXPECT_THAT(failure(job, "teeth", "3"), HasSubstr("option teeth needs tool saw"));
  EXPECT_THAT(failure(job, "weight", "3"), HasSubstr("needs tool saw or hammer"));
  EXPECT_THAT(failure(job, "teth", "3", ErrorCode::unknown_option),
              HasSubstr("did you mean 'teeth'?"));
  EXPECT_THAT(failure(job, "tool", "sow"), HasSubstr("did you mean 'saw'?"));
  EXPECT_THAT(failure(job, "hours", "25"), HasSubstr("[1, 24]"));
}

TEST(OptionTrees, SayWhatAnOptionNeeds) {
  Job job;
  EXPECT_EQ(needed_by(view(job, job_fields()), "teeth"), "");
  EXPECT_EQ(needed_by(view(job, job_fields()), "helper_age"), "helpers above 0");
  job.helpers = 1;
  EXPECT_EQ(needed_by(view(job, job_fields()), "helper_age"), "");
  job.tool = "hammer";
  EXPECT_EQ(needed_by(view(job, job_fields()), "teeth"), "tool saw");
  EXPECT_THROW(needed_by(view(job, job_fields()), "nothing"), Error);
}

TEST(OptionTrees, SayWhichMethodsLetAnOptionHaveAnEffect) {
  Job job;
  EXPECT_EQ(needed_by(view(job, job_fields()), "hours"), "");
  job.tool = "tape";
  EXPECT_THAT(needed_by(view(job, job_fields()), "hours"), HasSubstr("tool saw"));
  EXPECT_THAT(needed_by(view(job, job_fields()), "hours"), Not(HasSubstr("tape")));
  EXPECT_THAT(needed_by(view(job, job_fields()), "helpers"), HasSubstr("tool saw"));
  job.helpers = 2;
  EXPECT_EQ(needed_by(view(job, job_fields()), "helpers"), "");
  job.tool = "any";
  EXPECT_EQ(needed_by(view(job, job_fields()), "hours"), "");
}

TEST(OptionTrees, SayWhatAnOptionAffects) {
  Job job;
  for (const KnownField& field : known_fields(view(job, job_fields()))) {
    const FieldInfo& info = field.info;
    EXPECT_EQ(info.is_common, info.name == "tool");
    EXPECT_EQ(info.letter, info.name == "tool" ? 't' : '\0');
    const Affects expected = info.name == "teeth"                           ? Affects::kernels
                             : info.name == "tool" || info.name == "weight" ? Affects::levels
                                                                            : Affects::unsaid;
    EXPECT_EQ(info.affects, expected) << info.name;
  }
  EXPECT_TRUE(overlap(Affects::levels | Affects::kernels, Affects::kernels));
  EXPECT_FALSE(overlap(Affects::levels | Affects::kernels, Affects::travel));
}

TEST(OptionTrees, TakeChoicesBeforeWhatBelongsToThem) {
  Job job;
  job.tool = "tape";
  OptionView<Job> options(job_fields(), job);
  const std::vector<std::pair<std::string, std::string>> values = {{"weight", "9"},
                                                                   {"tool", "hammer"}};
  set_options(options, values);
  EXPECT_EQ(job.tool.options<HammerOptions>().weight, 9);
}

TEST(OptionTrees, SetWhatHasAPlace) {
  Job job;
  OptionView<Job> options(job_fields(), job);
  const std::vector<NamedValue> values = {{"teeth", "9"}, {"tool", "hammer"}, {"weight", "2"}};
  EXPECT_THAT(set_options_there(options, values), ElementsAre(NamedValue("teeth", "9")));
  EXPECT_EQ(get_option(options, "weight"), "2");
  EXPECT_TRUE(has_option(options, "weight"));
  EXPECT_FALSE(has_option(options, "teeth"));
}

TEST(OptionTrees, ListEveryFieldOnce) {
  Job job;
  std::vector<std::string> names;
  for (const KnownField& field : known_fields(view(job, job_fields()))) {
    names.push_back(field.info.name);
    if (field.info.name == "teeth") {
      EXPECT_EQ(field.owners_text("--"), "--tool saw");
    }
    if (field.info.name == "weight") {
      EXPECT_EQ(field.owners_text(), "tool saw or hammer");
    }
    if (field.info.name == "hours") {
      EXPECT_EQ(field.standard, "8");
      EXPECT_EQ(field.owners_text(), "");
      EXPECT_THROW(field.check("25"), Error);
    }
  }
  EXPECT_THAT(names,
              ElementsAre("hours", "tool", "teeth", "weight", "helpers", "helper_age", "spare"));
}

TEST(OptionTrees, TellEqualConfigurations) {
  Job a, b;
  const auto hash = [](const Job& job) { return hash_of(job, job_fields()); };
  EXPECT_EQ(hash(a), hash(b));
  b.tool.options<SawOptions>().teeth = 21;
  EXPECT_NE(hash(a), hash(b));
  check_options(a, job_fields());
  b.tool.options<SawOptions>().teeth = 1000;
  EXPECT_THROW(check_options(b, job_fields()), Error);
}

}  // namespace base_family_test
}  // namespace nodewise
