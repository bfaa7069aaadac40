//===- KernelAnalysis.h - turns a kernel's body into loops ------*- C++ -*-===//
//
// A body of generics on whole tensors states what a kernel computes. This analysis decides when. It splits the row loop
// into *phases* at the reductions over lanes: an op that reads the result of a reduction in phase p runs in the
// next phase, in a separate lane loop. A lane value that several phases read is recomputed in each phase, or *kept* in
// an array if it is expensive. A reduction over rows is an *accumulator* that outlives the row loop.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_KERNELANALYSIS_H
#define BRAID_COMPILER_CODEGEN_KERNELANALYSIS_H

#include "compiler/Codegen/ScalarOps.h"
#include "dialects/Exec/KernelBody.h"
#include "dialects/Exec/LanePatterns.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace braid::codegen {

/// The dim of the kernel's space that indexes each dim of a tensor.
using Dims = llvm::SmallVector<int64_t, 4>;
/// Stands for a dim whose index is always 0.
constexpr int64_t kNoDim = -1;

/// The loop that the runtime splits into blocks.
enum class Partition {
  Rows,   // any range of rows
  Blocks, // whole blocks of rows, one partial sum each
  Lanes,  // any range of lanes; the row loop runs inside the lane loop
};

/// The operation that combines elements in a reduction.
enum class Combine { Sum, Max };

/// A generic of the body.
struct Node {
  mutable mlir::linalg::GenericOp op; // mutable: MLIR's accessors are not const
  /// The dim of the space of each loop.
  Dims loops;
  bool reducesLanes = false, reducesRows = false;
  Combine combine = Combine::Sum;
  /// The first phase in which all inputs are available.
  unsigned phase = 0;
  /// Whether the first phase stores the value because several phases read it.
  bool kept = false;
  /// Links a maximum and a sum of exponentials that is computed in the loop of the maximum; each points to the other.
  mlir::Operation *online = nullptr;
  /// The lane that a sum picks from an operand, if the sum is just one lane.
  std::optional<exec::PickedLane> picked;

  bool reduces() const { return reducesLanes || reducesRows; }
  /// Whether this is a sum whose terms are added in the loop of its maximum.
  bool isOnlineSum() const { return online && combine == Combine::Sum; }
  /// Whether a loop over lanes computes the value.
  bool loopsOverLanes() const { return reducesLanes && !picked; }
  /// Returns the dims of the space that index operand `number`, in the order of its tensor.
  Dims operandDims(unsigned number) const;
  Dims resultDims() const { return operandDims(op.getNumDpsInputs()); }
  mlir::Value result() const { return op->getResult(0); }
  /// Returns the added value of a reduction: the operand of the combining op that is not the old value.
  mlir::Value contribution() const;
};

/// A result of the kernel.
struct Output {
  unsigned number; // index among the outs
  const Node *node;
  Dims dims;
  /// The phase that stores the output; row accumulators are stored after the row loop.
  unsigned phase = 0;
  /// The operand at the same reference, or -1.
  int64_t tied = -1;
};

class KernelAnalysis {
public:
  KernelAnalysis() = default;
  KernelAnalysis(KernelAnalysis &&) = default; // not copied: outputs point to nodes
  KernelAnalysis &operator=(KernelAnalysis &&) = default;
  /// Analyses a kernel. Fails with an error on the kernel if no loop can run its body.
  static mlir::FailureOr<KernelAnalysis> compute(exec::KernelDefOp kernel, llvm::StringRef target);

  mutable exec::KernelDefOp kernel;
  /// Launches of a flat kernel state the number of elements. With `anyRows`, launches state the number of rows.
  bool flat = false, anyRows = false;
  /// Sizes of the row dims. The lanes are dim `rowSizes.size()` of the space.
  llvm::SmallVector<int64_t> rowSizes;
  int64_t rows = 1, lanes = 1;
  Partition partition = Partition::Rows;
  /// For Partition::Blocks: the number of leading row dims that count the blocks.
  unsigned blockDims = 0;
  unsigned phases = 1;
  llvm::MapVector<mlir::Operation *, Node> nodes;
  llvm::SmallVector<Output> outputs;

  int64_t laneDim() const { return rowSizes.size(); }
  bool isLane(int64_t dim) const { return dim == laneDim(); }
  /// Whether there are lanes to loop over. With a single lane, lane values are row values.
  bool hasLanes() const { return flat || lanes > 1; }
  /// Whether a tensor with these dims differs between lanes.
  bool hasLane(llvm::ArrayRef<int64_t> dims) const { return hasLanes() && llvm::is_contained(dims, laneDim()); }
  /// Whether the number of lanes is a multiple of every vector width.
  bool wholeLanes() const { return !flat && lanes % 16 == 0; }
  int64_t blocks() const;
  /// Whether a reduction is a sum of so many floats that rounding errors, which grow with the number of terms, would be
  /// visible. Such a sum is compensated.
  bool isLongSum(const Node &node) const;
  /// Whether stores of an out bypass the caches.
  bool isStreamed(const Output &output) const {
    auto streamed = kernel->getAttrOfType<mlir::DenseI64ArrayAttr>(exec::kStreamed);
    return streamed && llvm::is_contained(streamed.asArrayRef(), output.number);
  }
  /// Returns the number of operands; the outs follow them in `layouts`.
  unsigned numIns() const { return kernel.getBody().getNumArguments(); }
  exec::RefType layout(unsigned operand) const {
    return mlir::cast<exec::RefType>(mlir::cast<mlir::TypeAttr>(kernel.getLayouts()[operand]).getValue());
  }
  const Node *nodeOf(mlir::Value value) const;

private:
  llvm::StringRef target; // for messages
  mlir::LogicalResult readBody();
  mlir::LogicalResult readNode(mlir::linalg::GenericOp op);
  mlir::LogicalResult readReduction(Node &node);
  mlir::LogicalResult readMarks(Node &node);
  mlir::LogicalResult readOutputs();
  void choosePartition();
  mlir::LogicalResult checkStack();
  void placeTiedOutputs();
  void chooseKept();
  /// Calls `visit` once on each node that is evaluated together with `node` in a phase. Continues below a node if
  /// `visit` returns true.
  void visitInputs(const Node &node, llvm::function_ref<bool(Node &)> visit);
  bool readsOperand(const Node &node, int64_t operand);
  mlir::InFlightDiagnostic error(mlir::Operation *op) const;
};

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_KERNELANALYSIS_H
