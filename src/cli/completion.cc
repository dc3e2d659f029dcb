/// ace completion bash | zsh | fish: a script made from the same tree of subcommands and options that parses the
/// arguments.
#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string_view>

#include "cli/cli.h"

namespace ace::cli {
namespace {

struct Entry {
  std::string name, what;
  std::vector<std::string> choices;  ///< values an option can have, where they are few
};

/// One command with what may follow it.
struct Command {
  std::string path;  ///< "ace trace stats"
  std::vector<Entry> commands, options;
};

/// The words of "TEXT:{fail,skip}", which is how CLI11 describes a choice.
std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos) return words;
  for (std::size_t from = open + 1; from < close;) {
    const std::size_t to = std::min(type.find(',', from), close);
    words.push_back(type.substr(from, to - from));
    from = to + 1;
  }
  return words;
}

void collect(const CLI::App& app, const std::string& path, std::vector<Command>& all) {
  Command command{path, {}, {}};
  const auto every = [](const auto*) { return true; };
  for (const CLI::Option* option : app.get_options(every))
    for (const std::string& name : option->get_lnames())
      command.options.push_back({"--" + name, option->get_description(), choices_of(option->get_type_name())});
  for (const CLI::Option* option : app.get_options(every))
    if (option->get_positional())
      for (const std::string& word : choices_of(option->get_type_name())) command.commands.push_back({word, "", {}});
  const auto subcommands = app.get_subcommands(every);
  for (const CLI::App* sub : subcommands) command.commands.push_back({sub->get_name(), sub->get_description(), {}});
  all.push_back(std::move(command));
  for (const CLI::App* sub : subcommands) collect(*sub, path + " " + sub->get_name(), all);
}

/// Shell text in single quotes.
std::string in_quotes(std::string_view text, std::string_view quote = R"('\'')") {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += quote;
    else
      out += c;
  }
  return out + "'";
}

std::string names(const std::vector<Entry>& entries) {
  std::string out;
  for (const Entry& e : entries) out += (out.empty() ? "" : " ") + e.name;
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

/// The case arms that walk from a command to the one below it; bash and zsh share them.
std::string descend(const std::vector<Command>& all) {
  std::string arms;
  for (const Command& c : all)
    if (c.path != "ace") arms += (arms.empty() ? "" : " | ") + in_quotes(c.path);
  return arms;
}

std::string bash_script(const std::vector<Command>& all) {
  std::string out = fmt::format(R"(# bash completion of ace. Once: source <(ace completion bash)
# For good: ace completion bash > ~/.local/share/bash-completion/completions/ace
_ace() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" path=ace word i
  local commands="" options="" values=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${{COMP_WORDS[i]}}"
    case "$path $word" in
      {}) path="$path $word" ;;
    esac
  done
  case "$path" in
)",
                                descend(all));
  for (const Command& c : all)
    out += fmt::format("    {}) commands={} options={} ;;\n", in_quotes(c.path), in_quotes(names(c.commands)),
                       in_quotes(names(c.options)));
  out += "  esac\n  case \"$path $previous\" in\n    '') ;;\n";
  for (const Command& c : all)
    for (const Entry& o : c.options)
      if (!o.choices.empty())
        out += fmt::format("    {}) values={} ;;\n", in_quotes(c.path + " " + o.name), in_quotes(joined(o.choices)));
  return out + R"(  esac
  COMPREPLY=()
  if [[ -n $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -n $commands ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _ace ace
)";
}

std::string zsh_script(const std::vector<Command>& all) {
  const auto described = [](const std::vector<Entry>& entries) {
    std::string out;
    for (const Entry& e : entries) out += (out.empty() ? "" : " ") + in_quotes(e.name + ":" + e.what);
    return out;
  };
  std::string out = fmt::format(R"(#compdef ace
# zsh completion of ace: ace completion zsh > a folder of $fpath, as _ace
_ace() {{
  local at=ace word
  local -a commands options values
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$at $word" in
      {}) at="$at $word" ;;
    esac
  done
  case "$at" in
)",
                                descend(all));
  for (const Command& c : all)
    out += fmt::format("    {}) commands=({}) options=({}) ;;\n", in_quotes(c.path), described(c.commands),
                       described(c.options));
  out += "  esac\n  case \"$at ${words[CURRENT-1]}\" in\n";
  for (const Command& c : all)
    for (const Entry& o : c.options)
      if (!o.choices.empty())
        out += fmt::format("    {}) values=({}) ;;\n", in_quotes(c.path + " " + o.name), joined(o.choices));
  return out + R"(  esac
  if (( $#values )); then
    _describe value values
  elif [[ $PREFIX == -* ]]; then
    _describe option options
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}
compdef _ace ace
)";
}

std::string fish_script(const std::vector<Command>& all) {
  const auto fish = [](std::string_view text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '\\') escaped += '\\';
      escaped += c;
    }
    return in_quotes(escaped, R"(\')");
  };
  std::string out = R"(# fish completion of ace: ace completion fish > ~/.config/fish/completions/ace.fish
function __ace_at
  set -l at ace
  set -l words (commandline -opc)
  for word in $words[2..-1]
    switch "$at $word"
      case)";
  for (const Command& c : all)
    if (c.path != "ace") out += " " + fish(c.path);
  out += "\n        set at \"$at $word\"\n    end\n  end\n  test \"$at\" = \"$argv[1]\"\nend\n";
  for (const Command& c : all) {
    const std::string when = fish("__ace_at \"" + c.path + "\"");
    for (const Entry& sub : c.commands)
      out += fmt::format("complete -c ace -n {} -f -a {} -d {}\n", when, sub.name, fish(sub.what));
    for (const Entry& o : c.options)
      out += fmt::format("complete -c ace -n {} -l {}{} -d {}\n", when, o.name.substr(2),
                         o.choices.empty() ? "" : " -x -a " + fish(joined(o.choices)), fish(o.what));
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("completion", "A script that completes commands and options in your shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &app, &context] {
    std::vector<Command> all;
    collect(app, "ace", all);
    *context.out << (*shell == "bash" ? bash_script(all) : *shell == "zsh" ? zsh_script(all) : fish_script(all));
  });
}

}  // namespace ace::cli
