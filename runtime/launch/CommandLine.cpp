//===- CommandLine.cpp - what can be said to a training binary ------------===//
//
// CLI11 splits the command line into commands, options and values; CommandTable.cpp says
// what they mean.
//
//===----------------------------------------------------------------------===//

#include "launch/CommandLine.h"

#include "base/Error.h"
#include "cli/Help.h"
#include "cli/Reader.h"
#include "core/Context.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <map>

using namespace braid;

namespace {

class Parser {
public:
  Parser(const br_model &model, const char *program)
      : model(model), path(program), program(path.substr(path.rfind('/') + 1)),
        target(isForDevice(model) ? "cuda" : "cpu") {
    app.allow_extras(); // which commands inherit: whatever is unknown is ours to name
    addOptions(app, kTrainingBinary, general);
    for (const cli::Command *command : kCommands) {
      CLI::App *sub = app.add_subcommand(std::string(command->name));
      addOptions(*sub, *command, ofCommand[command]);
    }
  }

  void parse(int argc, char **argv, CommandLine &line) {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ArgumentMismatch &error) { // "--steps: 1 required N missing"
      std::string text = error.what();
      line.error = text.substr(0, text.find(':')) + " has no value";
    } catch (const CLI::ParseError &error) {
      line.error = error.what();
    }
    if (!line.error.empty())
      return addHint(line);
    if (app.get_subcommands().empty())
      return answer(line);
    const CLI::App *sub = app.get_subcommands().front();
    const cli::Command *command = *std::find_if(std::begin(kCommands), std::end(kCommands),
                                                [&](auto *one) { return one->name == sub->get_name(); });
    cli::Words &words = ofCommand[command];
    words.unknown = sub->remaining();
    if (const std::string *help = words.textOf("--help")) {
      std::string name = concat(program, " ", command->name);
      line.answer = *help == "markdown" ? cli::markdown(*command, name) : cli::helpText(*command, name, target);
      return;
    }
    line.error = cli::readOptions(*command, words, target, &line.invocation);
    if (line.error.empty())
      line.command = command;
    else
      addHint(line);
  }

private:
  void addOptions(CLI::App &to, const cli::Command &command, cli::Words &words) {
    to.set_help_flag();
    for (const cli::Topic &topic : command.topics)
      for (const cli::Option &option : topic.options) {
        if (&option != cli::findOption(command, option.name, target))
          continue; // of another target
        CLI::callback_t keep = [&words, &option](const CLI::results_t &values) {
          for (const std::string &value : values)
            words.given.emplace_back(&option, value);
          return true;
        };
        std::string name(option.name);
        CLI::Option *added = to.add_option(name == "--help" ? "-h,--help" : name, keep);
        added->type_name(cli::formOf(option.value))->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        if (option.value.mayBeAlone)
          added->expected(0, option.value.kind == cli::Kind::Flag ? 0 : 1);
      }
  }

  // How to get help on the command that was given.
  void addHint(CommandLine &line) const {
    line.error += concat("\ntry '", path);
    for (const CLI::App *sub : app.get_subcommands())
      line.error += " " + sub->get_name();
    line.error += " --help'";
  }

  std::string help() const {
    return concat(cli::helpText(kTrainingBinary, kCommands, program), "\nThe model is '", model.name,
                  "', compiled for ", model.target ? model.target : "cpu", ".\n");
  }

  // Of all commands, for every target.
  std::string page() const {
    std::string text;
    for (const cli::Command *command : kCommands)
      text += cli::markdown(*command, concat(program, " ", command->name));
    return text;
  }

  // Without a command.
  void answer(CommandLine &line) {
    std::vector<std::string> words = app.remaining();
    std::vector<std::string_view> names;
    for (const cli::Command *command : kCommands)
      names.push_back(command->name);
    if (general.has("--version"))
      line.answer = concat("braid runtime, interface version ", BR_ABI_VERSION, ", model ", model.name, "\n");
    else if (const std::string *help = general.textOf("--help"))
      line.answer = *help == "markdown" ? page() : this->help();
    else if (words.empty())
      line.error = "missing command: train, eval, sample, info or run";
    else if (words.front().starts_with('-'))
      line.error = cli::readOptions(kTrainingBinary, {{}, words}, target, nullptr);
    else
      line.error = cli::unknownText("command", words.front(), names);
    if (!line.error.empty())
      addHint(line);
  }

  const br_model &model;
  std::string path, program; // as it was called, and without folders
  std::string target;        // whose options there are
  CLI::App app;
  cli::Words general;
  std::map<const cli::Command *, cli::Words> ofCommand;
};

} // namespace

CommandLine braid::parseCommandLine(int argc, char **argv, const br_model &model) {
  CommandLine line;
  Parser(model, argv[0]).parse(argc, argv, line);
  return line;
}
