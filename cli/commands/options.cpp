// `nodewise options`.
#include "cli/commands/arguments.hpp"
#include "cli/commands/command.hpp"
#include "cli/options/catalog.hpp"
#include "cli/options/preset_text.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

namespace {

std::string options_page(const PageOptions& page) {
  if (page.presets) return presets_markdown();
  if (page.exit_codes) return exit_codes_markdown();
  if (page.man) return man_page();
  if (page.completion != Shell::none) return completion_script(page.completion);
  return page.markdown ? options_markdown() : options_text();
}

ExitCode run_options(const Call& call) {
  if (call.world->is_root()) print_text(options_page(call.settings.page));
  return ExitCode::success;
}

}  // namespace

const Command& options_command() {
  static const Command command = {
      {"options", "print the reference of all options", ""},
      {.usage = "",
       .examples = {"options", "options --man | man -l -",
                    "options --completion bash > ~/.nodewise-completion"},
       .takes = Affects::pages,
       .take_arguments = take_no_arguments,
       .run = run_options}};
  return command;
}

}  // namespace nodewise::cli
