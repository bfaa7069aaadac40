//===- Main.cpp - from command line to exit status ------------------------===//
//
// Exit status: 0 success, 1 a reported error, 2 an invalid command line, 128 + N stopped by signal N (130
// Ctrl-C, 138 SIGUSR1, 143 SIGTERM).
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "base/Message.h"
#include "cli/Elsewhere.h"
#include "cli/Help.h"
#include "cli/Reader.h"
#include "cli/StandardFiles.h"
#include "core/Arena.h"
#include "core/Context.h"
#include "core/Mesh.h"
#include "core/Model.h"
#include "launch/CommandTable.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>

using namespace braid;

//===----------------------------------------------------------------------===//
// Parsing the command line
//===----------------------------------------------------------------------===//

namespace {

// Whether a single process runs the command, for any number of ranks.
bool runsInOneProcess(const cli::Command *command) {
  return command == &kInfo || command == &kMatmuls || command == &kVerify || command == &kExport;
}

struct CommandLine {
  const cli::Command *command = nullptr; // null: nothing to run
  Invocation invocation;
  // Without a command: the requested text (the help, the version), or the error.
  std::string answer, error;
  // Whether all ranks run the command.
  bool isForRanks = true;
};

// CLI11 splits the command line into commands, options and values; CommandTable.cpp defines their meaning.
class Parser {
public:
  Parser(const br_model &model, const char *program)
      : model(model), path(program), program(path.substr(path.rfind('/') + 1)),
        target(isForDevice(model) ? "cuda" : "cpu") {
    app.allow_extras();           // inherited by commands: this class reports unknown words
    app.require_subcommand(0, 1); // a second command's name is read as a word of the first command
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
    line.isForRanks = !runsInOneProcess(command);
    words.unknown = sub->remaining();
    if (const std::string *help = words.textOf("--help")) {
      std::string name = concat(program, " ", command->name);
      line.answer = *help == "markdown" ? cli::markdown(*command, name) : cli::helpText(*command, name, target);
      return;
    }
    line.error = cli::readOptions(*command, words, target, &line.invocation);
    if (line.error.empty()) {
      line.command = command;
      return;
    }
    addHint(line);
    readRankOptions(words, line);
  }

private:
  void addOptions(CLI::App &to, const cli::Command &command, cli::Words &words) {
    to.set_help_flag();
    for (const cli::Topic &topic : command.topics)
      for (const cli::Option &option : topic.options) {
        if (&option != cli::findOption(command, option.name, target))
          continue; // for another target
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

  // Reads the rank options even after an error, so that other ranks can be told of it.
  void readRankOptions(const cli::Words &all, CommandLine &line) const {
    cli::Words words;
    for (const auto &[option, text] : all.given)
      if (cli::findOption(kRankOptions, option->name, target) == option)
        words.given.emplace_back(option, text);
    cli::readOptions(kRankOptions, words, target, &line.invocation);
  }

  // Adds how to get help on the given command.
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

  // Returns the reference page of all commands, for every target.
  std::string page() const {
    std::string text;
    for (const cli::Command *command : kCommands)
      text += cli::markdown(*command, concat(program, " ", command->name));
    return text;
  }

  static std::string missingCommand(const std::vector<std::string_view> &names) {
    std::string text = "missing command: ";
    for (size_t i = 0; i < names.size(); ++i)
      text += concat(i == 0 ? "" : i + 1 < names.size() ? ", " : " or ", names[i]);
    return text;
  }

  // Answers a command line without a command.
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
      line.error = missingCommand(names);
    else if (words.front().starts_with('-'))
      line.error = cli::readOptions(kTrainingBinary, {{}, words}, target, nullptr);
    else if (const std::string_view meant = cli::commandForSynonym(words.front()); !meant.empty())
      line.error = concat("unknown command '", words.front(), "'; did you mean '", meant, "'?");
    else
      line.error = cli::unknownText("command", words.front(), names);
    if (!line.error.empty())
      addHint(line);
  }

  const br_model &model;
  std::string path, program; // as called, and without folders
  std::string target;        // target whose options are valid
  CLI::App app;
  cli::Words general;
  std::map<const cli::Command *, cli::Words> ofCommand;
};

} // namespace

static CommandLine parseCommandLine(int argc, char **argv, const br_model &model) {
  CommandLine line;
  Parser(model, argv[0]).parse(argc, argv, line);
  return line;
}

//===----------------------------------------------------------------------===//
// Running the command
//===----------------------------------------------------------------------===//

namespace {

// Finds the launcher of this process. If `lenient`, ignores invalid variables: a command without ranks does
// not need them.
Launch findOwnLaunch(bool lenient) {
  try {
    return findLaunch([](const char *name) { return std::getenv(name); });
  } catch (const Error &) {
    if (!lenient)
      throw;
    return {};
  }
}

int report(const char *message) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", printable(message).c_str());
  return 1;
}

// Reports the error and tells the other ranks, which would otherwise wait for this rank. They get the first
// line only, without the hint on help.
void refuse(const br_model &model, const CommandLine &line, const std::string &error) {
  report(error.c_str());
  if (line.isForRanks)
    refuseToStart(model, line.invocation.ranks, findOwnLaunch(/*lenient=*/true), error.substr(0, error.find('\n')));
}

int runCommand(const br_model &model, const CommandLine &line) {
  const Invocation &invocation = line.invocation;
  Launch launch = findOwnLaunch(invocation.ranks.ranks || runsInOneProcess(line.command));
  if (runsInOneProcess(line.command) && launch.rank != 0)
    return 0;
  if (line.command == &kInfo)
    return runInfo(model, invocation.info);
  if (line.command == &kMatmuls)
    return runMatmuls(model, invocation.matmuls);
  if (line.command == &kVerify)
    return runVerify(invocation.verify);
  if (line.command == &kExport)
    return runExport(model, invocation.exported);
  RankPlan plan;
  try {
    plan = planRanks(model, invocation.ranks, launch);
  } catch (const Error &error) {
    refuse(model, line, error.what());
    return 1;
  }
  RunOutputs outputs(plan.ranksHere);
  return runRanks(model, plan, invocation.ranks, [&](int rank) {
    const br_model &own = checked(modelOf(model, rank)); // the model of this rank's kind
    if (line.command == &kTrain)
      return prepareTrain(own, invocation.train, rank);
    if (line.command == &kEval)
      return prepareEval(own, invocation.eval);
    if (line.command == &kPredict)
      return preparePredict(own, invocation.predict, outputs);
    if (line.command == &kSample)
      return prepareSample(own, invocation.sample);
    return prepareRun(own, invocation.run, outputs);
  });
}

} // namespace

// SIGPIPE: if the reader of standard output ends, the write fails instead. SIGUSR2: a request for a
// checkpoint has no effect until there is something to save.
static void ignoreSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGUSR2, SIG_IGN);
}

int br_main(int argc, char **argv, const br_model *model) {
  cli::prepareProcess();
  CommandLine line = parseCommandLine(argc, argv, *model);
  if (!line.error.empty()) {
    refuse(*model, line, line.error);
    return cli::kUsageStatus;
  }
  if (!line.command) { // the help and the version are the same on all ranks
    if (findOwnLaunch(/*lenient=*/true).rank == 0)
      std::fputs(line.answer.c_str(), stdout);
    return 0;
  }
  if (line.command == &kTrain)
    ignoreSignals();
  try {
    return runCommand(*model, line);
  } catch (const Error &error) {
    return report(error.what());
  } catch (const std::bad_alloc &) {
    return report(kMoreMemory);
  } catch (const std::exception &error) {
    return report(error.what());
  }
}
