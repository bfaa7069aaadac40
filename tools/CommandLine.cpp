//===- CommandLine.cpp - command lines of the tools -----------------------===//
//
// llvm::cl splits a command line into options and values. The tool's table defines their meaning.
//
//===----------------------------------------------------------------------===//

#include "tools/CommandLine.h"
#include "cli/Help.h"
#include "cli/Reader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"
#include <deque>
#include <memory>

using namespace llvm;
using namespace braid;

[[noreturn]] void braid::exitForUsage(StringRef tool, StringRef error) {
  if (!error.empty()) // else llvm::cl has reported the error
    WithColor::error(errs(), tool) << error << "\n";
  errs() << "try '" << tool << " --help'\n";
  std::exit(cli::kUsageStatus);
}

/// Splits the command line into words, using llvm::cl.
static cli::Words splitWords(const cli::Command &tool, int argc, char **argv) {
  cl::getRegisteredOptions();   // registers --help of llvm::cl, so that
  cl::ResetCommandLineParser(); // the reset removes it with the options of LLVM's libraries
  using Texts = cl::list<std::string>;
  std::deque<std::pair<const cli::Option *, Texts *>> registered;
  std::deque<Texts> lists;
  auto add = [&](StringRef name, const cli::Option &option) {
    auto value = option.value.mayBeAlone ? cl::ValueOptional : cl::ValueRequired;
    registered.push_back({&option, std::addressof(lists.emplace_back(name, value))}); // & returns its strings
  };
  std::vector<const cli::Option *> byPosition;
  for (const cli::Topic &topic : tool.topics)
    for (const cli::Option &option : topic.options)
      option.isPositional() ? byPosition.push_back(&option) : add(StringRef(option.name).ltrim('-'), option);
  add("h", cli::kHelpOption);
  Texts positional{cl::Positional}, unknown{cl::Sink};
  std::string errors;
  raw_string_ostream stream(errors);
  if (!cl::ParseCommandLineOptions(argc, argv, "", &stream))
    exitForUsage(StringRef(tool.name), StringRef(errors).trim());
  cli::Words words;
  for (auto [option, texts] : registered)
    for (const std::string &text : *texts)
      words.given.emplace_back(option, text);
  words.unknown.assign(unknown.begin(), unknown.end());
  for (size_t i = 0; i < positional.size(); ++i)
    if (i < byPosition.size())
      words.given.emplace_back(byPosition[i], positional[i]);
    else
      words.unknown.push_back(positional[i]);
  cl::ResetCommandLineParser(); // resets the parser before the options are destroyed
  return words;
}

std::vector<std::string> braid::parseCommandLine(const cli::Command &tool, int argc, char **argv, void *object,
                                                 std::vector<std::string> *given) {
  cli::Words words = splitWords(tool, argc, argv);
  if (const std::string *help = words.textOf("--help")) {
    outs() << (*help == "markdown" ? cli::markdown(tool, tool.name) : cli::helpText(tool, tool.name, ""));
    std::exit(0);
  }
  if (words.has("--version")) {
    outs() << StringRef(tool.name) << " " BRAID_VERSION "\n";
    std::exit(0);
  }
  if (std::string error = cli::readOptions(tool, words, "", object); !error.empty())
    exitForUsage(StringRef(tool.name), error);
  std::vector<std::string> names;
  for (const auto &[option, text] : words.given) {
    names.emplace_back(option->name);
    if (given && !option->isPositional())
      given->push_back(names.back() + (text.empty() ? "" : "=" + text));
  }
  return names;
}

void braid::describeTool(StringRef name) {
  for (auto &entry : cl::getRegisteredOptions())
    if (entry.second->ArgStr != "help" && entry.second->ArgStr != "version")
      entry.second->setHiddenFlag(cl::Hidden);
  cl::SetVersionPrinter([name = name.str()](raw_ostream &os) { os << name << " " BRAID_VERSION "\n"; });
}

void braid::refuseUnknown(StringRef tool, ArrayRef<std::string> unknown) {
  if (unknown.empty())
    return;
  std::vector<std::string> names;
  for (auto &entry : cl::getRegisteredOptions())
    names.push_back("--" + entry.first().str());
  llvm::sort(names); // the order of the map is undefined
  std::vector<std::string_view> views(names.begin(), names.end());
  StringRef word = StringRef(unknown.front()).split('=').first;
  exitForUsage(tool, cli::unknownText("option", word, views));
}
