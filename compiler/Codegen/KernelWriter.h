//===- KernelWriter.h - prints a kernel -------------------------*- C++ -*-===//
//
// Text grows on three levels: the function, the body of the outer loop, the body of the inner loop. A value is printed
// at its first use, on the outermost level on which it does not vary. So loop-invariant code is hoisted without a
// separate pass. Rows are the outer loop and lanes the inner one, except with Partition::Lanes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_KERNELWRITER_H
#define BRAID_COMPILER_CODEGEN_KERNELWRITER_H

#include "compiler/Codegen/KernelEmitter.h"
#include "compiler/Codegen/KernelNaming.h"
#include "llvm/ADT/StringMap.h"

namespace braid::codegen {

class KernelWriter {
public:
  /// The first read of a row's lanes of an operand: its phase and dims.
  struct Read {
    unsigned phase;
    Dims dims;
  };
  using Reads = llvm::MapVector<unsigned, Read>; // by operand

  /// `reads` are the reads that an earlier writer of the same kernel found. With them, the first phase can prefetch the
  /// operands of later phases and of the next row.
  KernelWriter(const KernelForm &form, const llvm::SmallBitVector &aliased, const KernelEmitter &emitter,
               Reads reads = {})
      : form(form), analysis(form.analysis), aliased(aliased), emitter(emitter), known(std::move(reads)) {}

  mlir::FailureOr<std::string> print();
  const Reads &firstReads() const { return reads; }

private:
  // Loops.
  void printRowsOutside();
  void printPhase(unsigned phase);
  llvm::SmallVector<const Node *> printReductions(llvm::SmallVector<std::string> &declarations);
  void prefetchReads();
  void printLanesOutside();
  void printBlocksInside();
  void closeLevel(unsigned level, const LoopText &loop);
  void closeLaneLoop(unsigned level, bool ofBlock);
  void completeSums(llvm::SmallVector<std::string> &to);

  // Reductions and results.
  std::string declareAccumulator(const Node &node);
  void accumulate(const Node &node);
  void printPickedLane(const Node &node);
  std::string reduceText(const Node &node);
  void carry(const Node &node, llvm::StringRef condition, llvm::SmallVector<std::string> &to);
  void carryRows(llvm::SmallVector<std::string> &to);
  void completeAccumulators(const Node &node, llvm::SmallVector<std::string> &to);
  void storeAccumulator(const Output &output, llvm::StringRef block);
  void storeOutput(const Output &output, unsigned level);
  std::string storeText(const Output &output, const Expr &value, llvm::StringRef row);
  std::string unsupported(const llvm::Twine &what) const;

  // Values.
  Expr evaluate(mlir::Value tensor, const Dims &dims);
  Expr evaluateScalar(mlir::Value scalar, const Node &node);
  Expr evaluateStored(const Output &output);
  Expr load(mlir::BlockArgument argument, const Dims &dims);
  Expr lookUp(mlir::tensor::ExtractOp op, const Node &node);
  Expr indexOf(int64_t dim);
  Expr randomUniform(exec::RandomUniformOp op, const Node &node);
  Expr literal(mlir::Attribute value, mlir::Type type);
  Expr define(Kind kind, bool row, bool lane, std::string text, bool first = false);
  Expr failed(mlir::Operation *op, const llvm::Twine &message);

  // Address of an element.
  struct Place {
    std::string row;        // offset of the row, "" if there is none
    int64_t laneStride = 0; // 0 if equal for all lanes
    bool variesByRow = false;
  };
  Expr loadAt(unsigned operand, const Place &place);
  Place placeOf(unsigned operand, const Dims &dims, llvm::StringRef row = "r");
  int64_t laneStride(unsigned operand, const Dims &dims) const;
  std::string rowOffset(llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> sizes, llvm::StringRef index);
  std::string rowVariable(llvm::StringRef prefix, llvm::StringRef text);
  std::string rowIndex(int64_t inner, int64_t size, bool outermost, llvm::StringRef index);
  std::string product(llvm::StringRef index, int64_t stride) const;
  std::string address(unsigned operand, const Place &place, bool lanes) const;

  bool lanesOutside() const { return analysis.partition == Partition::Lanes; }
  /// Returns the level on which a value is computed that varies by row or by lane.
  unsigned levelOf(bool row, bool lane) const {
    bool outer = lanesOutside() ? lane : row, inner = lanesOutside() ? row : lane;
    return inner ? 2 : outer ? 1 : 0;
  }
  std::string turnIndex() const { return "[" + emitter.words.turn.str() + "]"; }
  /// Returns ", n" for loops whose last iteration may have fewer lanes.
  llvm::StringRef count() const { return emitter.wholeLanes(form) ? "" : ", n"; }
  std::string fresh(llvm::StringRef prefix) { return prefix.str() + std::to_string(numbers[prefix]++); }

  void namePointers();
  /// Names the variable that holds the result of `op` by its name in the program.
  void nameValue(const Expr &value, mlir::Operation *op);
  llvm::SmallVector<Parameter> parameters();
  std::string headComment();

  const KernelForm form;
  const KernelAnalysis &analysis;
  const llvm::SmallBitVector &aliased;
  const KernelEmitter &emitter;
  const Reads known;

  Reads reads;
  /// The current phase.
  unsigned phase = 0;
  llvm::SmallVector<std::string> pointers; // ins, then outs
  llvm::SmallVector<std::string> lines[3];
  /// Loads of lanes. They are printed before the other lines of their loop, so that all of them are in flight at the
  /// same time.
  llvm::SmallVector<std::string> loads[3];
  llvm::DenseMap<mlir::Value, Expr> values[3];
  /// Variables, by the text of their value.
  llvm::StringMap<Expr> defined[3];
  llvm::DenseMap<mlir::Operation *, std::string> accumulators, keptArrays;
  llvm::StringMap<unsigned> numbers;
  KernelNaming naming;
  bool hasFailed = false;
};

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_KERNELWRITER_H
