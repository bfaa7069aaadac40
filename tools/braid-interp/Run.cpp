//===- Run.cpp - runs a module once, or trains it -------------------------===//

#include "lib/Input/InputFile.h"
#include "lib/Input/ParserLimits.h"
#include "lib/Reference/Safetensors.h"
#include "lib/Reference/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tools/braid-interp/Modes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace braid;
using namespace braid::interp;
using namespace braid::reference;

/// Returns the elements of a pipeline, split at commas outside of brackets.
static SmallVector<StringRef> splitPipeline(StringRef pipeline) {
  SmallVector<StringRef> elements;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= pipeline.size(); ++i) {
    if (i == pipeline.size() || (pipeline[i] == ',' && depth == 0)) {
      elements.push_back(pipeline.slice(begin, i).trim());
      begin = i + 1;
    } else {
      depth += StringRef("({").contains(pipeline[i]);
      depth -= StringRef(")}").contains(pipeline[i]);
    }
  }
  return elements;
}

LogicalResult interp::applyPasses(ModuleOp module, StringRef pipeline) {
  std::unique_ptr<llvm::MemoryBuffer> file;
  if (pipeline.consume_front("@")) {
    auto read = readInputFile(pipeline);
    if (!read)
      return module.emitError() << "cannot read the pipeline from '" << pipeline
                                << "': " << llvm::toString(read.takeError());
    file = std::move(*read);
    pipeline = file->getBuffer().trim();
  }
  if (std::string problem = problemOfPairs(pipeline); !problem.empty())
    return module.emitError() << "cannot read the pipeline '" << pipeline << "': " << problem;
  // The form of `--print-pipeline`: all passes are nested in the module.
  if (pipeline.consume_front("builtin.module(") && !pipeline.consume_back(")"))
    return module.emitError("the pipeline lacks the ')' of 'builtin.module('");
  if (pipeline.empty())
    return success();
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  for (StringRef element : splitPipeline(pipeline)) {
    // A function pass need not be nested explicitly: it is nested if it does not fit the module.
    PassManager trial(module.getContext(), ModuleOp::getOperationName());
    std::string nested = ("func.func(" + element + ")").str(), message;
    bool fits = succeeded(parsePassPipeline(element, trial, llvm::nulls()));
    if (!fits && succeeded(parsePassPipeline(nested, trial, llvm::nulls())))
      element = nested;
    llvm::raw_string_ostream stream(message);
    if (failed(parsePassPipeline(element, passes, stream)))
      return module.emitError() << "cannot read '" << element << "' of the pipeline: " << message;
  }
  return passes.run(module);
}

static LogicalResult fail(ModuleOp module, llvm::Error error) {
  return module.emitError() << llvm::toString(std::move(error));
}

/// Returns the name of a result, or its index.
static std::string labelOf(const Program &program, size_t i) {
  std::string name = program.results[i].name();
  return name.empty() ? "result" + std::to_string(i) : name;
}

/// Finds the file's tensor for a result, by the name that --outputs gives it. For the gradient of x, also accepts 'dx',
/// which other programs write.
static Values::iterator findExpected(Values &file, const Program &program, size_t i, const Options &options) {
  auto found = file.find(options.inputs.prefix + labelOf(program, i));
  const std::string &gradOf = program.results[i].gradOf;
  return found == file.end() && !gradOf.empty() ? file.find(options.inputs.prefix + "d" + gradOf) : found;
}

/// Compares results with a file's tensors of the same names.
static LogicalResult compareWithFile(ModuleOp module, const Program &program, ArrayRef<Tensor> made,
                                     const Options &options) {
  llvm::Expected<Values> file = readSafetensors(options.expectFile, module.getContext());
  if (!file)
    return fail(module, file.takeError());
  int64_t compared = 0, different = 0;
  for (size_t i = 0; i < made.size(); ++i) {
    auto expected = findExpected(*file, program, i, options);
    if (expected == file->end())
      continue;
    ++compared;
    std::string text = difference(expected->second, made[i], options.tolerance);
    if (text.empty())
      continue;
    ++different;
    llvm::errs() << "'" << program.name << "': result '" << labelOf(program, i) << "' differs from '" << expected->first
                 << "' of the file: " << text << '\n';
  }
  if (compared == 0)
    return module.emitError() << "'" << options.expectFile << "' has no tensor for any result of '" << program.name
                              << "'";
  if (different == 0)
    llvm::outs() << "'" << program.name << "': " << compared << " results agree with the file"
                 << (compared < int64_t(made.size()) ? "; the file lacks the other results\n" : "\n");
  return failure(different > 0);
}

std::vector<std::string> interp::functionsOf(ModuleOp module, const Options &options) {
  if (!options.function.empty())
    return {options.function};
  return Program::names(module);
}

LogicalResult interp::checkNames(ArrayRef<ModuleOp> modules, const Options &options) {
  llvm::StringSet<> names;
  for (ModuleOp module : modules)
    for (const std::string &name : Program::names(module)) {
      FailureOr<Program> program = Program::find(module, name);
      if (failed(program))
        return failure();
      for (const InputSlot &slot : program->inputs)
        names.insert(slot.name);
    }
  for (const auto &number : options.inputs.numbers)
    if (!names.contains(number.getKey()))
      return modules.front()->emitError() << "--set: no input is called '" << number.getKey() << "'";
  return success();
}

/// Runs one function with its own copy of `options`. `named` gets its results, `drawn` its inputs.
static LogicalResult runFunction(ModuleOp module, const std::string &name, Options options, Values &named,
                                 Values &drawn) {
  std::string &prefix = options.inputs.prefix;
  if (size_t at = prefix.find('@'); at != std::string::npos)
    prefix.replace(at, 1, name);
  FailureOr<Program> program = Program::find(module, name);
  if (failed(program))
    return failure();
  Values values;
  if (llvm::Error error = makeInputs(*program, options.inputs, values))
    return program->emitError(std::move(error));
  for (const InputSlot &slot : program->inputs)
    if (slot.kind == InputKind::Input)
      drawn[slot.name] = values.at(slot.name);
  std::vector<RankResult> perRank;
  Results made = program->run(values, options.arithmetic, options.perRank ? &perRank : nullptr);
  if (failed(made))
    return failure();
  for (const RankResult &result : perRank)
    printTensor(llvm::outs(), "rank " + std::to_string(result.rank) + ": " + labelOf(*program, result.result),
                result.tensor, options.printLimit);
  for (size_t i = 0; i < made->size(); ++i) {
    if (options.print)
      printTensor(llvm::outs(), labelOf(*program, i), (*made)[i], options.printLimit);
    named[labelOf(*program, i)] = (*made)[i];
  }
  return options.expectFile.empty() ? success() : compareWithFile(module, *program, *made, options);
}

LogicalResult interp::runOnce(ModuleOp module, const Options &options) {
  std::vector<std::string> names = functionsOf(module, options);
  if (names.empty())
    return module.emitError("the module has no function and no program");
  if (names.size() > 1 && !(options.outputFile.empty() && options.drawnFile.empty()))
    return module.emitError("the module has several functions; name with --function the one whose tensors to write");
  if (failed(checkNames(module, options)))
    return failure();
  Values named, drawn;
  bool right = true;
  for (const std::string &name : names) {
    if (names.size() > 1 && options.print)
      llvm::outs() << '@' << name << '\n';
    right &= succeeded(runFunction(module, name, options, named, drawn));
  }
  for (const auto &[path, tensors] : {std::pair(options.outputFile, &named), {options.drawnFile, &drawn}})
    if (!path.empty())
      if (llvm::Error error = writeSafetensors(path, *tensors))
        return fail(module, std::move(error));
  return success(right);
}

LogicalResult interp::runTraining(ModuleOp module, const Options &options) {
  FailureOr<Step> step = Step::find(module, options.function.empty() ? "train" : options.function);
  if (failed(step) || failed(checkNames(module, options)))
    return failure();
  if (step->pipeline && options.microbatches > 1 && options.microbatches != step->microbatches)
    return module.emitError() << "--accumulate=" << options.microbatches << ", but the table of the pipeline is for "
                              << step->microbatches << " microbatches: leave it out";
  if (!step->pipeline)
    step->microbatches = options.microbatches;
  if (step->microbatches > 1 && !step->accumulate && !step->pipeline)
    return module.emitError("--accumulate needs a function 'accumulate', which the module does not have");
  TrainingOptions training{*options.steps, options.inputs, options.arithmetic, nullptr};
  TokenFile tokens;
  if (!options.dataFile.empty()) {
    llvm::Expected<TokenFile> read = TokenFile::read(options.dataFile);
    if (!read)
      return fail(module, read.takeError());
    tokens = std::move(*read);
    training.tokens = &tokens;
  }
  std::optional<llvm::raw_fd_ostream> log;
  if (!options.logFile.empty()) {
    std::error_code error;
    log.emplace(options.logFile, error);
    if (error)
      return module.emitError() << "cannot write '" << options.logFile << "': " << error.message();
  }
  Values values;
  if (failed(train(*step, training, values, llvm::outs(), log ? &*log : nullptr)))
    return failure();
  Values kept;
  for (const InputSlot &slot : step->main.inputs)
    if (slot.kind != InputKind::Input && values.count(slot.name))
      kept[slot.name] = values.at(slot.name);
  if (!options.outputFile.empty())
    if (llvm::Error error = writeSafetensors(options.outputFile, kept))
      return fail(module, std::move(error));
  return success();
}
