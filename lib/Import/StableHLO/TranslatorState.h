//===- TranslatorState.h - the state of a translation -----------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_STABLEHLO_TRANSLATORSTATE_H
#define BRAID_LIB_IMPORT_STABLEHLO_TRANSLATORSTATE_H

#include "lib/Import/StableHLO/Translator.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace braid::stablehlo {

/// Translates the ops of a program one by one, in the order of their execution.
class Translator {
public:
  Translator(Program &program, const ImportOptions &options);

  Imported run();

private:
  friend class SourceOp;

  // Arguments and results: see Signature.cpp.
  mlir::LogicalResult declareArguments();
  mlir::LogicalResult declareArgument(const Argument &argument);
  mlir::LogicalResult declareInput(const Argument &argument, mlir::RankedTensorType type, mlir::Location loc);
  mlir::LogicalResult declareFrozen(const Argument &argument, mlir::RankedTensorType type, mlir::Location loc);
  void nameArgument(const Argument &argument, llvm::StringRef name, llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::LogicalResult finish(mlir::ValueRange results);
  mlir::LogicalResult finishStates(std::vector<ModelOutput> &outputs);
  /// Returns the number of the result that is the loss of a step: a float without dims that reads a state of floats.
  /// Prefers one with the key `loss`. Returns nothing if there is no such float, and fails if none reads a state.
  mlir::FailureOr<std::optional<size_t>> lossOf(llvm::ArrayRef<ModelOutput> outputs);
  bool readsState(mlir::Value value);
  /// Names a state as a parameter if the loss reads it; returns its name.
  std::string finishState(const Argument &argument, bool isRead, bool isUnchanged);
  mlir::LogicalResult checkNames();
  /// Whether the program updates its parameters itself.
  bool isStep() const;
  bool isState(const Argument &argument) const;
  bool isFrozen(const Argument &argument) const;

  // Ops.
  mlir::LogicalResult translate(mlir::Operation *op);
  mlir::LogicalResult translateRow(mlir::Operation *op, const OpRow &row, mlir::Location loc);
  mlir::LogicalResult checkTypes(mlir::Operation *op, mlir::Location loc);
  mlir::Location locationOf(mlir::Operation *op);
  /// Notes what is known of a value of the program, unless too many numbers are stored.
  void remember(mlir::Value source, Known known);
  mlir::Value valueOf(mlir::Value source, mlir::Location loc);

  // Control: see Control.cpp.
  /// Translates an op of control. Returns nothing if the op is another one.
  std::optional<mlir::LogicalResult> translateControl(mlir::Operation *op, mlir::Location loc);
  mlir::LogicalResult callFunction(mlir::Operation *op, llvm::StringRef attribute, mlir::Location loc);
  mlir::LogicalResult unroll(mlir::Operation *op, mlir::Location loc);
  mlir::LogicalResult choose(mlir::Operation *op, mlir::Location loc);
  mlir::LogicalResult chooseByValue(mlir::Operation *op, mlir::Location loc);
  mlir::LogicalResult passOn(mlir::Operation *op, mlir::Location loc);
  mlir::LogicalResult stopGradients(mlir::Operation *op, mlir::Location loc);
  /// Translates a block whose arguments are `arguments`; returns the operands of its terminator.
  mlir::FailureOr<llvm::SmallVector<Operand>> translateBlock(mlir::Block &block, llvm::ArrayRef<Operand> arguments);
  llvm::SmallVector<Operand> operandsOf(mlir::ValueRange values) const;
  mlir::LogicalResult bind(mlir::ValueRange sources, llvm::ArrayRef<Operand> values, mlir::Location loc);

  mlir::LogicalResult checkPatterns();

  Program &program;
  const ImportOptions &options;
  mlir::OpBuilder builder;
  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Value, Operand> operands;
  llvm::StringMap<const OpRow *> rows;
  /// Names and attributes of the arguments here, which are those of the program in the same order.
  std::vector<std::string> argumentNames;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes;
  /// Uses of the results.
  llvm::SmallVector<ResultUse> uses;
  /// Functions that are being inlined, and the places of their calls.
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Location>> calls;
  /// Number of these calls that come from a derivative in the program.
  unsigned callsOfDerivatives = 0;
  /// Whether an error was reported while a value was built.
  bool hasFailed = false;
  int64_t translatedOps = 0;
  /// Known elements of values of the graph.
  KnownValues knownValues;
  /// Numbers that are stored one by one: each table once, by its hash.
  std::map<size_t, Dense> tables;
  int64_t storedNumbers = 0;
};

/// Replaces each parameter that is read layer by layer by a parameter for each layer.
void splitStacked(mlir::func::FuncOp function);

} // namespace braid::stablehlo

#endif // BRAID_LIB_IMPORT_STABLEHLO_TRANSLATORSTATE_H
