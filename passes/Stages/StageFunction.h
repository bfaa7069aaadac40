//===- StageFunction.h - a function of some ranks, while it is made -*- C++ -*-===//
#ifndef BRAID_PASSES_STAGES_STAGEFUNCTION_H
#define BRAID_PASSES_STAGES_STAGEFUNCTION_H

#include "dialects/Comm/Comm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Stages/StageMap.h"

namespace braid {

/// The axis of a mesh along which stages lie.
struct StageAxis {
  mlir::FlatSymbolRefAttr mesh;
  mlir::StringAttr axis;
  unsigned size;

  comm::AxesAttr group() const { return comm::AxesAttr::get(axis.getContext(), axis); }
};

/// A function that the ranks with one coordinate run, with ops of a program of all ranks.
class StageFunction {
public:
  StageFunction(mlir::func::FuncOp source, const StageAxis &axis, unsigned coordinate, llvm::StringRef name);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::func::FuncOp get() { return function; }

  /// Adds an argument with these attributes.
  mlir::BlockArgument addArgument(mlir::Type type, mlir::DictionaryAttr attributes, mlir::Location loc);
  /// Adds the source's argument, once.
  void addArgument(mlir::BlockArgument argument);
  void addResult(mlir::Value value, mlir::DictionaryAttr attributes);

  /// What stands for a value of the source here; null if nothing does.
  mlir::Value lookup(mlir::Value value) const { return values.lookupOrNull(value); }
  void map(mlir::Value value, mlir::Value here) { values.map(value, here); }
  /// The same, of what has no stage with the ops that make it, and of arguments that are added where
  /// they are not there.
  mlir::Value obtain(mlir::Value value, const StageMap &map);
  /// Clones an op of the source; all that it reads is there, or can be obtained.
  void clone(mlir::Operation *op, const StageMap &map);

  /// Writes the type and the attributes, and erases what nothing needs.
  void finish();

private:
  mlir::func::FuncOp source, function;
  mlir::OpBuilder builder;
  mlir::IRMapping values;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes, resultAttributes;
  llvm::SmallVector<mlir::Value> returned;
};

/// The attributes of a tensor that lives in slots, or across programs: `#tg.state` of zeros.
mlir::DictionaryAttr stateAttributes(mlir::MLIRContext *context, llvm::StringRef name, tg::TensorKind kind,
                                     llvm::StringRef slots);
/// `tg.updates` of a state.
mlir::DictionaryAttr updateAttributes(mlir::MLIRContext *context, llvm::StringRef name);
mlir::DictionaryAttr orEmpty(mlir::DictionaryAttr attributes, mlir::MLIRContext *context);

} // namespace braid

#endif // BRAID_PASSES_STAGES_STAGEFUNCTION_H
