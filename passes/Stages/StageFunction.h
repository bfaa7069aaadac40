//===- StageFunction.h - builder of a function of some ranks ----*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_STAGEFUNCTION_H
#define BRAID_PASSES_STAGES_STAGEFUNCTION_H

#include "dialects/Comm/Comm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Stages/StageMap.h"

namespace braid {

/// The mesh axis along which stages lie.
struct StageAxis {
  mlir::FlatSymbolRefAttr mesh;
  mlir::StringAttr axis;
  unsigned size;

  comm::AxesAttr group() const { return comm::AxesAttr::get(axis.getContext(), axis); }
};

/// A function that the ranks with one coordinate run. Its ops come from a source program of all ranks.
class StageFunction {
public:
  StageFunction(mlir::func::FuncOp source, const StageAxis &axis, unsigned coordinate, llvm::StringRef name);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::func::FuncOp get() { return function; }

  /// Adds an argument with these attributes.
  mlir::BlockArgument addArgument(mlir::Type type, mlir::DictionaryAttr attributes, mlir::Location loc);
  /// Adds the source's argument, unless it was added before.
  void addArgument(mlir::BlockArgument argument);
  void addResult(mlir::Value value, mlir::DictionaryAttr attributes);

  /// Returns the local value of a source value, or null.
  mlir::Value lookup(mlir::Value value) const { return values.lookupOrNull(value); }
  void map(mlir::Value value, mlir::Value local) { values.map(value, local); }
  /// Like `lookup`, but adds missing arguments and clones ops without a stage that define the value.
  mlir::Value obtain(mlir::Value value, const StageMap &map);
  /// Clones an op of the source. All its operands must be available or obtainable.
  void clone(mlir::Operation *op, const StageMap &map);

  /// Writes the type and the attributes, and erases dead ops.
  void finish();

private:
  mlir::func::FuncOp source, function;
  mlir::OpBuilder builder;
  mlir::IRMapping values;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes, resultAttributes;
  llvm::SmallVector<mlir::Value> returned;
};

/// Returns the attributes of a tensor in slots, or of one that persists across programs: a `#tg.state` of zeros.
mlir::DictionaryAttr stateAttributes(mlir::MLIRContext *context, llvm::StringRef name, tg::TensorKind kind,
                                     llvm::StringRef slots);
/// Returns the attribute `tg.updates` of a state.
mlir::DictionaryAttr updateAttributes(mlir::MLIRContext *context, llvm::StringRef name);
mlir::DictionaryAttr emptyIfNull(mlir::DictionaryAttr attributes, mlir::MLIRContext *context);

} // namespace braid

#endif // BRAID_PASSES_STAGES_STAGEFUNCTION_H
