//===- Elsewhere.cpp - options of other programs --------------------------===//

#include "cli/Elsewhere.h"

#include "cli/Names.h"
#include "cli/ProgramOptions.h"
#include "cli/Synonyms.h"

#include <vector>

using namespace braid::cli;

namespace {

// Normalizes a name: "--Batch_size" and "-batch-size" become "--batch-size".
std::string normalized(std::string_view option) {
  std::string name;
  for (char c : option)
    name += c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name.size() > 2 && name[1] != '-' ? "-" + name : name;
}

std::string joined(const std::vector<std::string> &words, const char *last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 < words.size() ? ", " : last) + words[i];
  return text;
}

// Other programs that have the option: the first tool, or else commands.
struct Owners {
  const ProgramOptions *tool = nullptr;
  std::vector<std::string> commands;
};

Owners ownersOf(const Caller &caller, std::string_view option) {
  Owners found;
  for (const ProgramOptions &program : kProgramOptions) {
    if (program.program == caller.program || !isAmong(option, program.names))
      continue;
    if (!program.isTool)
      found.commands.emplace_back(program.program);
    else if (!found.tool)
      found.tool = &program;
  }
  // A user of one command more likely means another command than a tool.
  if (found.tool && !caller.isTool && !found.commands.empty())
    found.tool = nullptr;
  return found;
}

// Returns a text such as "braidc", "the training binary's commands train and eval" or "the command train".
std::string describeOwners(const Caller &caller, const Owners &owners) {
  if (owners.tool)
    return std::string(owners.tool->program);
  const char *plural = owners.commands.size() > 1 ? "s " : " ";
  return (caller.isTool ? "the training binary's command" : "the command") +
         (plural + joined(owners.commands, " and "));
}

std::string describeOwnersOf(const Caller &caller, std::string_view option) {
  const Owners owners = ownersOf(caller, option);
  if (!owners.tool && owners.commands.empty())
    return "";
  std::string text = std::string(option) + " is an option of " + describeOwners(caller, owners);
  if (!owners.tool)
    return text + ": give it there";
  return text + (owners.tool->program == "braidc" ? ": compile with it" : ": make the graph with it");
}

} // namespace

std::string braid::cli::optionElsewhere(const Caller &caller, std::string_view option) {
  const std::string name = normalized(option);
  if (!caller.has(name))
    if (std::string text = describeOwnersOf(caller, name); !text.empty())
      return text;
  for (const Synonym &row : kSynonyms) {
    if (!isAmong(name, row.words))
      continue;
    std::vector<std::string> own, others;
    for (std::string_view meant : split(row.options, ' ')) {
      const std::string quoted = "'" + std::string(meant) + "'";
      if (caller.has(meant))
        own.push_back(quoted);
      else
        others.push_back(quoted + " of " + describeOwners(caller, ownersOf(caller, meant)));
    }
    std::string text = "unknown option '" + std::string(option) + "'; did you mean " +
                       joined(own.empty() ? others : own, " or ") + "?";
    return row.note.empty() ? text : text + " " + std::string(row.note);
  }
  return "";
}

std::string braid::cli::misspelledOptionElsewhere(const Caller &caller, std::string_view option) {
  std::vector<std::string_view> names;
  for (const ProgramOptions &program : kProgramOptions)
    for (std::string_view name : split(program.names, ' '))
      if (program.program != caller.program)
        names.push_back(name);
  const std::string_view meant = nearestTo(option, names);
  return meant.empty() ? "" : "'" + std::string(meant) + "' of " + describeOwners(caller, ownersOf(caller, meant));
}

std::string_view braid::cli::commandForSynonym(std::string_view word) {
  for (const CommandSynonym &row : kCommandSynonyms)
    if (isAmong(word, row.words))
      return row.command;
  return "";
}
