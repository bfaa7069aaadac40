//===- Reader.cpp - the text of a JAX function as a module ----------------===//

#include "lib/Import/StableHLO/Reader.h"
#include "lib/Input/InputFile.h"
#include "lib/Input/ParserLimits.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// How a user writes the file.
static constexpr StringLiteral kRemedy =
    "write it with jax.jit(f).lower(...).compiler_ir().operation.get_asm(print_generic_op_form=True, "
    "enable_debug_info=True)";

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Length of `:LINE:COLUMN` at the beginning of `text`, or 0.
static size_t lengthOfPosition(StringRef text) {
  size_t length = 0;
  for (int part = 0; part < 2; ++part) {
    size_t digits = text.drop_front(length).starts_with(":")
                        ? text.drop_front(length + 1).take_while([](char c) { return isDigit(c); }).size()
                        : 0;
    if (digits == 0)
      return 0;
    length += 1 + digits;
  }
  return length;
}

/// Length of the end of a range, ` to LINE:COLUMN` or ` to :COLUMN`, at the beginning of `text`, or 0.
static size_t lengthOfRangeEnd(StringRef text) {
  StringRef rest = text;
  if (!rest.consume_front(" to "))
    return 0;
  rest = rest.drop_while([](char c) { return isDigit(c); });
  if (!rest.consume_front(":") || rest.empty() || !isDigit(rest.front()))
    return 0;
  return text.size() - rest.drop_while([](char c) { return isDigit(c); }).size();
}

/// Drops the ends of ranges in locations, "a.py":3:8 to :29, which MLIR 19 does not read.
static std::string withoutRangeEnds(StringRef text) {
  std::string result;
  result.reserve(text.size());
  size_t copied = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '"')
      continue;
    for (++at; at < text.size() && text[at] != '"'; ++at)
      at += text[at] == '\\';
    if (at >= text.size())
      break;
    size_t position = lengthOfPosition(text.substr(at + 1));
    size_t end = position ? lengthOfRangeEnd(text.substr(at + 1 + position)) : 0;
    if (end == 0)
      continue;
    result += text.slice(copied, at + 1 + position);
    copied = at + 1 + position + end;
    at = copied - 1;
  }
  return result += text.drop_front(copied);
}

/// Parses a module, and returns the first error of the parser or the verifier.
static Expected<OwningOpRef<ModuleOp>> parseModule(StringRef text, StringRef path, MLIRContext &context) {
  std::string problem;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (!problem.empty())
      return success();
    raw_string_ostream os(problem);
    if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()); place && place.getFilename() == path)
      os << "line " << place.getLine() << ": ";
    os << diagnostic;
    return success();
  });
  auto buffer = MemoryBuffer::getMemBuffer(text, path);
  SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return createStringError(path + ": " + (problem.empty() ? "is no module" : problem) + "; " + kRemedy);
  return module;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

SmallVector<std::string> braid::stablehlo::keysOf(StringRef path) {
  StringRef rest = path.drop_while([](char c) { return isAlnum(c) || c == '_'; });
  SmallVector<std::string> keys{path.drop_back(rest.size()).str()};
  if (keys.front().empty())
    return {};
  while (!rest.empty()) {
    StringRef part;
    if (rest.consume_front("['") || rest.consume_front("[\"")) {
      part = rest.take_until([](char c) { return c == '\'' || c == '"'; });
      rest = rest.drop_front(part.size());
      if (!rest.consume_front("']") && !rest.consume_front("\"]"))
        return {};
    } else if (rest.consume_front("[")) {
      part = rest.take_while([](char c) { return isDigit(c); });
      rest = rest.drop_front(part.size());
      if (!rest.consume_front("]"))
        return {};
    } else if (rest.consume_front(".")) {
      part = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
      rest = rest.drop_front(part.size());
    }
    if (part.empty() || !all_of(part, [](char c) { return isAlnum(c) || is_contained("_-./", c); }))
      return {};
    keys.push_back(part.str());
  }
  return keys;
}

/// Returns the place that keys state; of a result, without the word `result`.
static LeafPath pathOf(ArrayRef<std::string> keys) {
  return keys.empty() ? LeafPath() : LeafPath{keys.front(), join(keys.drop_front(), ".")};
}

/// Reads the names of the arguments from their locations.
static Error readArguments(Program &program, StringRef path) {
  for (BlockArgument argument : program.main.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto place = dyn_cast<NameLoc>(argument.getLoc());
    if (!place)
      return createStringError(path + ": argument " + Twine(number) + " of @main has no name; " + kRemedy);
    SmallVector<std::string> keys = keysOf(place.getName());
    if (keys.empty())
      return createStringError(path + ": argument '" + place.getName().getValue() +
                               "': names of leaves are letters, digits and _ - . /");
    LeafPath leaf = pathOf(keys);
    bool isDonated =
        program.main.getArgAttr(number, "tf.aliasing_output") || program.main.getArgAttr(number, "jax.buffer_donor");
    program.arguments.push_back({leaf.leaf.empty() ? leaf.root : leaf.leaf, leaf, argument, isDonated});
  }
  return Error::success();
}

/// Reads the places of results from their attributes, such as result[0]['w'].
static void readResults(Program &program) {
  for (unsigned number = 0; number < program.main.getNumResults(); ++number) {
    auto info = program.main.getResultAttrOfType<StringAttr>(number, "jax.result_info");
    SmallVector<std::string> keys = info ? keysOf(info) : SmallVector<std::string>();
    program.results.push_back(pathOf(ArrayRef(keys).drop_front(keys.empty() ? 0 : 1)));
  }
}

Expected<Program> braid::stablehlo::readProgram(StringRef path, MLIRContext &context) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path);
  if (!file)
    return createStringError(path + ": " + toString(file.takeError()));
  if (Error error = checkParserLimits(**file))
    return error;
  Expected<OwningOpRef<ModuleOp>> module = parseModule(withoutRangeEnds((*file)->getBuffer()), path, context);
  if (!module)
    return module.takeError();
  Program program{std::move(*module), {}, {}, {}};
  program.main = program.module->lookupSymbol<func::FuncOp>("main");
  if (!program.main || program.main.isExternal() || !program.main.getBody().hasOneBlock())
    return createStringError(path + ": has no function @main of one block; " + kRemedy);
  if (Error error = readArguments(program, path))
    return error;
  readResults(program);
  return program;
}
