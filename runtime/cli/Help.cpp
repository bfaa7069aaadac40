//===- Help.cpp - help and reference page from a table --------------------===//

#include "cli/Help.h"

#include <algorithm>

using namespace braid::cli;

namespace {

constexpr size_t kColumns = 80, kHelpColumn = 28;

// Appends words, wrapped into lines that start at `column`. The first line continues the last line of
// `text`, if that leaves two spaces.
void appendWrapped(std::string &text, std::string_view words, size_t column) {
  size_t at = text.size() - (text.rfind('\n') + 1);
  if (at > 0 && at + 2 > column) {
    text += '\n';
    at = 0;
  }
  text += std::string(column - at, ' ');
  at = column;
  for (size_t start = 0, end; start < words.size(); start = end + 1) {
    end = std::min(words.find(' ', start), words.size());
    if (start > 0 && at + 1 + end - start > kColumns) {
      text += '\n' + std::string(column, ' ');
      at = column;
    } else if (start > 0) {
      text += ' ';
      ++at;
    }
    text += words.substr(start, end - start);
    at += end - start;
  }
  text += '\n';
}

// Returns "--zero=STAGE", "-o PATH" or "--profile[=FILE]".
std::string usage(const Option &option) {
  std::string name(option.name);
  const Value &value = option.value;
  if (value.kind == Kind::Flag || option.isPositional())
    return name;
  std::string text = (name.starts_with("--") ? "=" : " ") + formOf(value);
  return name + (value.mayBeAlone ? "[" + text + "]" : text);
}

// Returns the default from the table, or else from the field.
std::string defaultOf(const Option &option) {
  if (!option.fallback.empty() || option.isRequired)
    return std::string(option.fallback);
  Initial initial = option.initial ? option.initial : option.field.initial;
  return initial ? initial(option.value) : "";
}

std::string helpOf(const Option &option) {
  std::string initial = defaultOf(option);
  return std::string(option.help) + (initial.empty() ? "" : " (default: " + initial + ")");
}

// Returns the words that the option takes and that have a description.
Lines linesOf(const Option &option) {
  Lines lines = option.lines ? option.lines() : Lines();
  for (const Word &word : option.value.valid())
    if (!word.help.empty())
      lines.emplace_back(word.text, word.help);
  return lines;
}

void appendOption(std::string &text, const Option &option) {
  text += "  " + usage(option);
  appendWrapped(text, helpOf(option), kHelpColumn);
  for (const auto &[word, help] : linesOf(option))
    appendWrapped(text, "- " + word + ": " + help, kHelpColumn);
}

// Wraps paragraphs; keeps indented lines.
void appendParagraphs(std::string &text, std::string_view paragraphs) {
  for (size_t start = 0, end; start < paragraphs.size(); start = end + 1) {
    end = std::min(paragraphs.find('\n', start), paragraphs.size());
    std::string_view line = paragraphs.substr(start, end - start);
    if (line.empty() || line.front() == ' ')
      text += std::string(line) + "\n";
    else
      appendWrapped(text, line, 0);
  }
}

// Whether the topic continues the one before it in the table.
bool continues(const Command &command, const Topic &topic) {
  return &topic != command.topics.data() && (&topic)[-1].title == topic.title;
}

bool hasAny(const Topic &topic, std::string_view target) {
  for (const Option &option : topic.options)
    if (isFor(option, target))
      return true;
  return false;
}

std::string opening(const Command &command, std::string_view program, std::string_view rest) {
  std::string text = "usage: " + std::string(program) + " " + std::string(rest);
  for (const Topic &topic : command.topics)
    for (const Option &option : topic.options)
      if (option.isPositional())
        text += " " + std::string(option.name);
  text += "\n\n";
  appendWrapped(text, std::string(command.summary) + ".", 0);
  if (!command.more.empty())
    appendParagraphs(text += '\n', command.more);
  return text;
}

// Escapes text for a table cell.
std::string cell(std::string_view words) {
  std::string text;
  for (char c : words)
    text += c == '|' ? "\\|" : std::string(1, c);
  return text;
}

} // namespace

std::string braid::cli::helpText(const Command &command, std::string_view program, std::string_view target) {
  std::string text = opening(command, program, "[OPTION...]");
  for (const Topic &topic : command.topics) {
    if (!hasAny(topic, target))
      continue;
    if (!continues(command, topic))
      text += "\n" + std::string(topic.title) + ":\n";
    for (const Option &option : topic.options)
      if (isFor(option, target))
        appendOption(text, option);
  }
  return text;
}

std::string braid::cli::helpText(const Command &program, std::span<const Command *const> commands,
                                 std::string_view name) {
  std::string text = opening(program, name, "COMMAND [OPTION...]") + "\nCommands:\n";
  for (const Command *command : commands) {
    text += "  " + std::string(command->name);
    appendWrapped(text, command->summary, 12);
  }
  text += "\nOptions:\n";
  for (const Topic &topic : program.topics)
    for (const Option &option : topic.options)
      appendOption(text, option);
  return text;
}

std::string braid::cli::markdown(const Command &command, std::string_view program) {
  std::string text = "## `" + std::string(program) + "`\n" + std::string(command.summary) + ".\n";
  for (const Topic &topic : command.topics) {
    if (!continues(command, topic)) {
      text += "\n### " + std::string(topic.title) + "\n";
      if (!topic.needs.empty())
        text += "These need `" + std::string(topic.needs) + "`.\n\n";
      text += "| option | |\n|---|---|\n";
    }
    for (const Option &option : topic.options) {
      if (!option.moved.empty())
        continue;
      text += "| `" + cell(usage(option)) + "` | " + cell(helpOf(option));
      for (const auto &[word, help] : linesOf(option))
        text += "; `" + word + "`: " + cell(help);
      for (auto [title, names] : {std::pair("programs for ", option.target), {"needs ", option.needs}})
        if (!names.empty())
          text += " *(" + std::string(title) + "`" + std::string(names) + "`)*";
      text += " |\n";
    }
  }
  return text + "\n";
}
