//===- Translation.h - the state of one import ------------------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_TORCH_TRANSLATION_H
#define BRAID_LIB_IMPORT_TORCH_TRANSLATION_H

#include "lib/Import/Torch/SharedMemory.h"
#include "lib/Import/Torch/Translator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace braid::torch {

/// Returns the type that stores a PyTorch type here, or null. Integers have 32 bits.
mlir::Type elementOf(ScalarType type, mlir::MLIRContext *context);

class Translator {
public:
  Translator(const Program &program, const Archive &archive, const ImportOptions &options, mlir::MLIRContext &context)
      : program(program), archive(archive), options(options), builder(&context) {}

  Imported run();

private:
  friend class CallBuilder;

  mlir::RankedTensorType tensorType(const TypeOfTensor &type, mlir::Location loc, const llvm::Twine &what);
  mlir::Location locationOf(const Call &call);
  mlir::LogicalResult declareInputs();
  mlir::LogicalResult declareInput(const Input &input);
  void bindBuffer(const Input &input, Operand &operand);
  mlir::LogicalResult translate(const Call &call);
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
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes;
  mlir::Value keyArgument;
  /// Whether an error was reported while a value was built.
  bool hasFailed = false;
  int64_t streams = 0;
};
} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_TRANSLATION_H
