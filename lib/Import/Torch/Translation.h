//===- Translation.h - the state of one import ------------------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_TORCH_TRANSLATION_H
#define BRAID_LIB_IMPORT_TORCH_TRANSLATION_H

#include "lib/Import/Torch/Routing.h"
#include "lib/Import/Torch/SharedMemory.h"
#include "lib/Import/Torch/Translator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace braid::torch {

/// Returns the type that stores a PyTorch type here, or null. Integers have 32 bits.
mlir::Type elementOf(ScalarType type, mlir::MLIRContext *context);

class Translator {
public:
  Translator(const Program &program, const Archive &archive, const ImportOptions &options, mlir::MLIRContext &context)
      : program(program), archive(archive), options(options), builder(&context) {}

  /// Translates the program. If it overwrites buffers, it is translated again with these as states.
  Imported run();

private:
  Imported runOnce();
  friend class CallBuilder;

  mlir::RankedTensorType tensorType(const TypeOfTensor &type, mlir::Location loc, const llvm::Twine &what);
  mlir::Location locationOf(const Call &call);
  mlir::LogicalResult declareInputs();
  mlir::LogicalResult declareInput(const Input &input);
  /// Returns the elements of a small buffer.
  MaybeKnown valuesOf(const Input &input);
  void declareState(const Input &input, mlir::RankedTensorType type, mlir::Location loc);
  const Input *bufferOf(llvm::StringRef tensor) const;
  mlir::LogicalResult noteOverwrite(const Input &input, llvm::StringRef op, mlir::Location loc);
  /// Adds the new values of states to the outputs.
  mlir::LogicalResult addStates(std::vector<ModelOutput> &outputs);
  mlir::LogicalResult translate(const Call &call);
  const Routed *routedOf(const Call &call, llvm::StringRef name) const;
  bool readsRouted(const Call &call) const;
  bool beginRoute(const Call &call);
  mlir::LogicalResult translateRouted(const Call &call, mlir::Location loc);
  mlir::FailureOr<Routed> multiplyByExperts(CallBuilder &call, const Routed &input, mlir::Value weight);
  std::optional<Routed> pickRows(CallBuilder &call);
  mlir::LogicalResult buildRowwise(const Call &call, const Routed &rows, mlir::Location loc);
  const TypeOfTensor &typeOf(llvm::StringRef name) const {
    auto found = retyped.find(name);
    return found == retyped.end() ? program.typeOf(name) : found->second;
  }
  mlir::LogicalResult build(const Call &call, const OpRow &row, mlir::Location loc);
  const OpRow *findRow(const Call &call, mlir::Location loc);
  mlir::LogicalResult checkMemory(const Call &call, mlir::Location loc);
  mlir::LogicalResult noteMemory(const Call &call, const OpRow &row, mlir::Location loc);
  View viewBy(const Call &call, llvm::StringRef base, mlir::Location loc);
  mlir::LogicalResult writeThrough(llvm::StringRef view, mlir::Location loc);
  mlir::Value valueOf(llvm::StringRef name, mlir::Location loc);
  mlir::LogicalResult finish();
  /// Returns the name of an output: its path in the result of forward, or output0, output1, ...
  std::string nameOfOutput(size_t number) const;
  /// Returns the loss that --loss states, or null after an error.
  mlir::Value requestedLoss(const LossRequest &request);
  mlir::Value labelsOf(const LossRequest &request, mlir::RankedTensorType type);
  mlir::BlockArgument addArgument(mlir::RankedTensorType type, llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::Value randomKey();

  const Program &program;
  const Archive &archive;
  const ImportOptions &options;
  mlir::OpBuilder builder;
  mlir::func::FuncOp function;
  /// Tensors by their canonical names.
  llvm::StringMap<Operand> operands;
  llvm::StringMap<const OpRow *> rows;
  SharedMemory memory;
  /// Tensors in the order of experts, and their types by slots.
  llvm::StringMap<Routed> routed;
  llvm::StringMap<TypeOfTensor> retyped;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes;
  mlir::Value keyArgument;
  /// Buffers that the program overwrites, by name in the graph; `states` are those known before the translation.
  llvm::StringSet<> updated, states;
  /// Whether an error was reported while a value was built.
  bool hasFailed = false;
  int64_t streams = 0;
};
} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_TRANSLATION_H
