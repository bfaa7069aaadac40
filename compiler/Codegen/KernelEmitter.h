//===- KernelEmitter.h - the target emitters of kernels ---------*- C++ -*-===//
//
// The body of a kernel is equal for all targets. A target emitter supplies the rest: a few target-specific names, the
// signature, the headers of the loops that the target runs in parallel, and the synchronisation of threads that share a
// row.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_KERNELEMITTER_H
#define BRAID_COMPILER_CODEGEN_KERNELEMITTER_H

#include "compiler/Codegen/LaunchShape.h"

namespace braid::codegen {

/// A kernel's loops, and their distribution over threads.
struct KernelForm {
  const KernelAnalysis &analysis;
  const LaunchShape &shape;
};

/// A pointer parameter of a kernel.
struct Parameter {
  std::string type; // `const float`
  bool aliased;     // no `__restrict`
  std::string name;
};

/// Text around the body of a loop. The header may have several lines; without a header there is no loop.
struct LoopText {
  std::string header, footer = "}";
};

/// Target-specific parts of the text of a kernel.
class KernelEmitter {
public:
  struct Words {
    /// The target's name, for messages.
    llvm::StringLiteral target;
    /// Template arguments: the number of lanes, for functions that return lane values; the number of threads, for
    /// functions that reduce over a row.
    llvm::StringLiteral lanes, group;
    /// Number of iterations of a lane loop, as the length of an array, and index of the current iteration.
    llvm::StringLiteral turns, turn;
    /// Index of the block.
    llvm::StringLiteral block;
    /// Conditions that hold in every sixteenth iteration of a lane loop, and of a row loop.
    llvm::StringLiteral sixteenthTurn, sixteenthRow;
  };
  const Words words;

  explicit constexpr KernelEmitter(const Words &words) : words(words) {}
  virtual ~KernelEmitter() = default;

  /// Returns the part of the kernel's comment that describes its threads.
  virtual std::string comment(const KernelForm &kernel) const = 0;
  /// Returns the signature, and the constants that `body` uses.
  virtual std::string head(const KernelForm &kernel, const std::string &function, llvm::ArrayRef<Parameter> parameters,
                           llvm::StringRef body) const = 0;
  /// Returns the loop over the rows of a block, around the lane loops.
  virtual LoopText rowLoop(const KernelForm &kernel) const = 0;
  /// Returns the loop over rows [first, last), inside the lane loop.
  virtual LoopText innerRowLoop(const KernelForm &kernel, llvm::StringRef first, llvm::StringRef last) const = 0;
  /// Returns the loop over all lanes, or over those of a block, around the lines of `body`.
  virtual LoopText laneLoop(const KernelForm &kernel, bool ofBlock, llvm::ArrayRef<std::string> body) const = 0;
  /// Returns whether every iteration of a lane loop has all lanes. If not, the variable `n` is their number.
  virtual bool wholeLanes(const KernelForm &kernel) const = 0;
  /// Returns whether the lanes of this operand are accessed as a vector instead of one by one.
  virtual bool accessesAsVector(const KernelForm &kernel, unsigned operand) const = 0;
  /// Returns whether expensive values are kept from one lane loop to the next.
  virtual bool keeps(const KernelForm &kernel) const = 0;
  /// Returns the load of element `index` of a pointer.
  virtual std::string element(llvm::StringRef pointer, unsigned index) const = 0;
  /// Returns a statement for the first lane loop of a row. It prefetches the lanes at `address`, which a later loop
  /// reads; empty if the target does not prefetch.
  virtual std::string prefetch(const KernelForm &kernel, llvm::StringRef address) const = 0;

  /// Returns the next row of the threads of this row, or this row if it is their last. Empty if rows are not prefetched
  /// while the previous row is reduced.
  virtual std::string nextRow(const KernelForm &kernel) const = 0;

  /// Returns the condition under which a thread stores the value of a row; empty if every thread may.
  virtual std::string storesRow(const KernelForm &kernel) const = 0;
  /// Returns the condition for storing a sum over rows: a sum for each lane, or one for all lanes.
  virtual std::string storesSum(const KernelForm &kernel, bool lane) const = 0;
  /// Returns a statement before a store that overwrites an operand. It waits until all threads of the row have read the
  /// operand; empty if not needed.
  virtual std::string barrierBeforeTiedStore(const KernelForm &kernel) const = 0;
  /// Returns a statement after the row loop that combines the partial sums over rows in `name`; empty if not needed.
  virtual std::string completeSum(const KernelForm &kernel, Combine combine, llvm::StringRef name) const = 0;
};

/// Emits a loop over rows around loops over lanes, with the functions of runtime/cpu/kernel.h.
class CpuKernelEmitter final : public KernelEmitter {
public:
  constexpr CpuKernelEmitter()
      : KernelEmitter({/*target=*/"cpu", /*lanes=*/"", /*group=*/"", /*turns=*/"(L + W - 1) / W", /*turn=*/"l / W",
                       /*block=*/"block.id", /*sixteenthTurn=*/"l % (16 * W) == 0",
                       /*sixteenthRow=*/"r % 16 == 0"}) {}
  std::string comment(const KernelForm &) const override { return ""; }
  std::string head(const KernelForm &kernel, const std::string &function, llvm::ArrayRef<Parameter> parameters,
                   llvm::StringRef body) const override;
  LoopText rowLoop(const KernelForm &kernel) const override;
  LoopText innerRowLoop(const KernelForm &kernel, llvm::StringRef first, llvm::StringRef last) const override;
  LoopText laneLoop(const KernelForm &kernel, bool ofBlock, llvm::ArrayRef<std::string> body) const override;
  bool wholeLanes(const KernelForm &kernel) const override { return kernel.analysis.wholeLanes(); }
  bool accessesAsVector(const KernelForm &, unsigned) const override { return true; }
  bool keeps(const KernelForm &) const override { return true; }
  std::string element(llvm::StringRef pointer, unsigned index) const override;
  std::string prefetch(const KernelForm &, llvm::StringRef) const override { return ""; }
  std::string nextRow(const KernelForm &) const override { return ""; }
  std::string storesRow(const KernelForm &) const override { return ""; }
  std::string storesSum(const KernelForm &, bool) const override { return ""; }
  std::string barrierBeforeTiedStore(const KernelForm &) const override { return ""; }
  std::string completeSum(const KernelForm &, Combine, llvm::StringRef) const override { return ""; }
};

/// Emits a __global__ function, with the functions of runtime/cuda/kernel.h.
class CudaKernelEmitter final : public KernelEmitter {
public:
  constexpr CudaKernelEmitter()
      : KernelEmitter({/*target=*/"cuda", /*lanes=*/"<W>", /*group=*/"<T>", /*turns=*/"ITERS", /*turn=*/"i",
                       /*block=*/"blockIdx.x", /*sixteenthTurn=*/"l % (16 * T * W) < T * W",
                       /*sixteenthRow=*/"r % (16 * ROWS) < ROWS"}) {}
  std::string comment(const KernelForm &kernel) const override;
  std::string head(const KernelForm &kernel, const std::string &function, llvm::ArrayRef<Parameter> parameters,
                   llvm::StringRef body) const override;
  LoopText rowLoop(const KernelForm &kernel) const override;
  LoopText innerRowLoop(const KernelForm &kernel, llvm::StringRef first, llvm::StringRef last) const override;
  LoopText laneLoop(const KernelForm &kernel, bool ofBlock, llvm::ArrayRef<std::string> body) const override;
  bool wholeLanes(const KernelForm &kernel) const override;
  bool accessesAsVector(const KernelForm &kernel, unsigned operand) const override;
  bool keeps(const KernelForm &kernel) const override { return kernel.shape.keeps; }
  std::string element(llvm::StringRef pointer, unsigned index) const override;
  std::string prefetch(const KernelForm &kernel, llvm::StringRef address) const override;
  std::string nextRow(const KernelForm &kernel) const override;
  std::string storesRow(const KernelForm &kernel) const override;
  std::string storesSum(const KernelForm &kernel, bool lane) const override;
  std::string barrierBeforeTiedStore(const KernelForm &kernel) const override;
  std::string completeSum(const KernelForm &kernel, Combine combine, llvm::StringRef name) const override;
};

extern const CpuKernelEmitter cpuKernelEmitter;
extern const CudaKernelEmitter cudaKernelEmitter;

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_KERNELEMITTER_H
