#include "daemon/cli/completion.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"

namespace torchwatch::cli {
namespace {

/// Each asks the program itself, which knows its commands better than any file.
constexpr std::string_view bash_script = R"(_torchwatch() {
  local IFS=$'\n'
  COMPREPLY=($(torchwatch complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _torchwatch torchwatch
)";

constexpr std::string_view zsh_script = R"(#compdef torchwatch
_torchwatch() {
  local -a found
  found=("${(@f)$(torchwatch complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _torchwatch torchwatch
)";

constexpr std::string_view fish_script =
    R"(complete -c torchwatch -a '(torchwatch complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
)";

constexpr std::array scripts{std::pair<std::string_view, std::string_view>{"bash", bash_script},
                             std::pair<std::string_view, std::string_view>{"zsh", zsh_script},
                             std::pair<std::string_view, std::string_view>{"fish", fish_script}};

/// The subcommand of that name; nothing when there is none.
CLI::App const* subcommand(CLI::App const& app, std::string const& name) {
  auto const all = app.get_subcommands([](CLI::App const*) { return true; });
  auto const at = std::ranges::find(all, name, [](CLI::App const* one) { return one->get_name(); });
  return at == all.end() ? nullptr : *at;
}

/// The flag that is typed so; nothing when there is none.
CLI::Option const* flag(CLI::App const& app, std::string const& name) {
  return name.starts_with("-") ? app.get_option_no_throw(name) : nullptr;
}

std::vector<std::string> names_in(CLI::App const& app) {
  std::vector<std::string> names;
  for (auto const* const command : app.get_subcommands([](CLI::App const*) { return true; }))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  for (auto const* const option : app.get_options())
    for (auto const& name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

bool wants_value(CLI::Option const* option) {
  return option != nullptr && option->get_items_expected_min() > 0;
}

int print_script(std::string const& shell) {
  for (auto const& [name, script] : scripts)
    if (name == shell) std::cout << script;
  return nothing_found;
}

int print_completions(CLI::App const& app, std::vector<std::string> const& words) {
  for (auto const& one : completions(app, words))
    std::cout << one << '\n';
  return nothing_found;
}

}  // namespace

std::vector<std::string> completions(CLI::App const& app, std::vector<std::string> const& words) {
  auto const* here = &app;
  bool in_value = false;
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    auto const& word = words.at(at);
    auto const* const inner = in_value ? nullptr : subcommand(*here, word);
    in_value = !in_value && wants_value(flag(*here, word));
    if (inner != nullptr) here = inner;
  }
  if (in_value) return {};
  auto const begun = words.empty() ? "" : words.back();
  auto names = names_in(*here);
  std::erase_if(names, [&](std::string const& name) { return !name.starts_with(begun); });
  return names;
}

void add_completion(CLI::App& app, Chosen& chosen) {
  auto const shell = std::make_shared<std::string>();
  auto* const completion =
      app.add_subcommand("completion", "Print what makes a shell complete commands");
  completion->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember{std::vector<std::string>{"bash", "zsh", "fish"}});
  completion->callback([shell, &chosen] {
    chosen = [shell] {
      return print_script(*shell);
    };
  });
  auto const words = std::make_shared<std::vector<std::string>>();
  auto* const complete = app.add_subcommand("complete", "What those scripts ask")->group("");
  complete->add_option("words", *words);
  complete->callback([words, &app, &chosen] {
    chosen = [words, &app] {
      return print_completions(app, *words);
    };
  });
}

}  // namespace torchwatch::cli
