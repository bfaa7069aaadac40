//===- Command.cpp - programs that braidc runs ----------------------------===//

#include "lib/Driver/Command.h"
#include "lib/Driver/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace braid;

Error Command::start(bool verbose) {
  std::vector<StringRef> words(arguments.begin(), arguments.end());
  if (verbose)
    errs() << llvm::join(words, " ") << "\n";
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  std::string message;
  bool failed = false;
  process = sys::ExecuteNoWait(words.front(), words, std::nullopt, redirects, 0, &message, &failed);
  return failed ? makeError("cannot run '" + words.front() + "': " + message) : Error::success();
}

Error Command::finish() {
  std::string message;
  sys::ProcessInfo result = sys::Wait(process, std::nullopt, &message);
  std::string output;
  if (auto buffer = MemoryBuffer::getFile(log))
    output = (*buffer)->getBuffer().str();
  if (result.ReturnCode == 0) {
    errs() << output; // warnings, if any
    return Error::success();
  }
  return makeError("'" + arguments.front() + "' failed on generated code" +
                   (message.empty() ? "" : " (" + message + ")") + ":\n" + output);
}

Error braid::runAll(MutableArrayRef<Command> commands, bool verbose) {
  Error first = Error::success();
  auto note = [&](Error error) {
    if (first)
      consumeError(std::move(error));
    else
      first = std::move(error);
  };
  size_t started = 0;
  while (started < commands.size() && !first) {
    note(commands[started].start(verbose));
    started += !first;
  }
  for (Command &command : commands.take_front(started))
    note(command.finish());
  return first;
}
