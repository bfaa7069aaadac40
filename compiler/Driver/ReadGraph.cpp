//===- ReadGraph.cpp - reads a graph, with a line for every op ------------===//

#include "compiler/Driver/ReadGraph.h"
#include "dialects/Interfaces/TensorShape.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TrainingFacts.h"
#include "dialects/TG/ValueNames.h"
#include "lib/Input/ParserLimits.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace braid;

/// Adds a line of this text to a location, inside names and facts. Compiled text also keeps the lines of its graph,
/// which generated code shows. Locations that a graph states itself get no line.
static Location withLine(Location loc, Location line, bool isCompiled) {
  if (isCompiled && isa<UnknownLoc, FileLineColLoc>(loc))
    return CallSiteLoc::get(line, loc);
  if (isa<UnknownLoc>(loc))
    return line;
  if (auto name = dyn_cast<NameLoc>(loc))
    return NameLoc::get(name.getName(), withLine(name.getChildLoc(), line, isCompiled));
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused)
    return loc;
  auto parts =
      llvm::map_to_vector(fused.getLocations(), [&](Location part) { return withLine(part, line, isCompiled); });
  return FusedLoc::get(parts, fused.getMetadata(), loc.getContext());
}

/// Returns the author's name for the first result of an op. Other results are named by the op's definition.
static StringRef nameOf(const AsmParserState::OperationDefinition &definition) {
  if (!isa_and_present<FunctionOpInterface>(definition.op->getParentOp()) || definition.resultGroups.empty())
    return "";
  llvm::SMRange name = definition.resultGroups.front().definition.loc;
  return StringRef(name.Start.getPointer(), name.End.getPointer() - name.Start.getPointer()).ltrim('%');
}

static void addLines(const llvm::SourceMgr &sources, const AsmParserState &state, bool isCompiled,
                     MLIRContext *context) {
  StringRef file = sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier();
  for (const AsmParserState::OperationDefinition &definition : state.getOpDefs()) {
    auto [line, column] = sources.getLineAndColumn(definition.loc.Start, sources.getMainFileID());
    Location loc = withLine(definition.op->getLoc(), FileLineColLoc::get(context, file, line, column), isCompiled);
    // Locations in compiled text already hold names.
    bool isNamed = isCompiled || !tg::valueNameOf(loc).empty() || tg::factsOf(loc);
    definition.op->setLoc(isNamed ? loc : tg::withValueName(loc, nameOf(definition)));
  }
}

/// Returns the module that the text contains, or a new module around its ops.
static OwningOpRef<ModuleOp> extractModule(Block &block, StringRef file, MLIRContext *context) {
  if (llvm::hasSingleElement(block))
    if (auto module = dyn_cast<ModuleOp>(block.front())) {
      module->remove();
      return module;
    }
  OwningOpRef<ModuleOp> module = ModuleOp::create(FileLineColLoc::get(context, file, 1, 1));
  module->getBody()->getOperations().splice(module->getBody()->end(), block.getOperations());
  return module;
}

/// Refuses tensor shapes that graphs do not support. Ops of upstream dialects and unused arguments would accept them.
static LogicalResult verifyShapes(ModuleOp module) {
  auto verifyValue = [](Value value, const Twine &what) -> LogicalResult {
    std::string problem = problemOfShape(value.getType());
    if (problem.empty())
      return success();
    return mlir::emitError(value.getLoc()) << what << " of type " << value.getType() << " " << problem;
  };
  for (auto function : module.getOps<FunctionOpInterface>())
    for (BlockArgument argument : function.getArguments())
      if (failed(verifyValue(argument, "argument #" + Twine(argument.getArgNumber()))))
        return failure();
  WalkResult walked = module.walk([&](Operation *op) {
    for (OpResult result : op->getResults())
      if (isa<TensorType>(result.getType()) &&
          failed(verifyValue(result, "result #" + Twine(result.getResultNumber()) + " of '" +
                                         op->getName().getStringRef() + "'")))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

OwningOpRef<ModuleOp> braid::readGraph(const llvm::SourceMgr &sources, MLIRContext *context) {
  const llvm::MemoryBuffer &text = *sources.getMemoryBuffer(sources.getMainFileID());
  if (llvm::Error error = checkParserLimits(text)) {
    mlir::emitError(UnknownLoc::get(context)) << llvm::toString(std::move(error));
    return nullptr;
  }
  // Verifies later, when ops have the lines that error messages show.
  ParserConfig config(context, /*verifyAfterParse=*/false);
  AsmParserState state;
  Block block;
  if (failed(parseAsmSourceFile(sources, &block, config, &state)))
    return nullptr;
  OwningOpRef<ModuleOp> module = extractModule(block, text.getBufferIdentifier(), context);
  addLines(sources, state, /*isCompiled=*/(*module)->hasAttr(tg::kTraining), context);
  bool isValid = succeeded(verify(*module)) && succeeded(verifyShapes(*module)) &&
                 llvm::all_of(module->getOps<FunctionOpInterface>(),
                              [](auto function) { return succeeded(tg::verifyStates(function)); });
  return isValid ? std::move(module) : nullptr;
}

std::string braid::writeGraph(ModuleOp module) {
  AttrTypeReplacer lines;
  lines.addReplacement([](CallSiteLoc loc) -> Attribute { return loc.getCaller(); });
  lines.addReplacement([](FileLineColLoc loc) -> Attribute {
    StringRef file = llvm::sys::path::filename(loc.getFilename());
    return FileLineColLoc::get(loc.getContext(), file, loc.getLine(), loc.getColumn());
  });
  lines.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true);
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  return text + "\n";
}
