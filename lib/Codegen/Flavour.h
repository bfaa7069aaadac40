//===- Flavour.h - where the printed languages differ -----------*- C++ -*-===//
//
// Kernels of all targets have the same body.  They differ in a few words, in the
// signature, in the headers of the loops that the target runs in parallel, and in what
// threads that share a row must do about that.  All of it is here.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_FLAVOUR_H
#define BRAID_LIB_CODEGEN_FLAVOUR_H

#include "lib/Codegen/LaunchShape.h"

namespace braid::codegen {

/// A kernel as loops, and spread over threads.
struct KernelForm {
  const KernelAnalysis &analysis;
  const LaunchShape &shape;
};

/// A pointer that a kernel takes.
struct Parameter {
  std::string type; // `const float`
  bool aliased;     // no `__restrict`
  std::string name;
};

/// What stands around the lines of a loop.  The header may be several lines; none when
/// it is empty.
struct LoopText {
  std::string header, footer = "}";
};

class Flavour {
public:
  struct Words {
    /// The target's name, for messages.
    llvm::StringLiteral target;
    /// What makes lanes from something else, and what combines those of a row, are
    /// templates: of their number, and of the number of threads.
    llvm::StringLiteral lanes, group;
    /// The length of an array with an element for each turn of a lane loop, and the
    /// index of the current turn.
    llvm::StringLiteral turns, turn;
    /// The number of the block.
    llvm::StringLiteral block;
  };
  const Words words;

  explicit constexpr Flavour(const Words &words) : words(words) {}
  virtual ~Flavour() = default;

  /// What the kernel's comment says of its threads.
  virtual std::string comment(const KernelForm &kernel) const = 0;
  /// The lines from the signature to the constants that `body` mentions.
  virtual std::string head(const KernelForm &kernel, const std::string &function, llvm::ArrayRef<Parameter> parameters,
                           llvm::StringRef body) const = 0;
  /// The loop over the rows of a block, around the lane loops.
  virtual LoopText rowLoop(const KernelForm &kernel) const = 0;
  /// The loop over rows [first, last), inside the lane loop.
  virtual LoopText innerRowLoop(const KernelForm &kernel, llvm::StringRef first, llvm::StringRef last) const = 0;
  /// A loop over all lanes, or over a block's, around these lines.
  virtual LoopText laneLoop(const KernelForm &kernel, bool ofBlock, llvm::ArrayRef<std::string> body) const = 0;
  /// Whether every turn of a lane loop has all its lanes; else `n` says how many.
  virtual bool wholeLanes(const KernelForm &kernel) const = 0;
  /// Whether lanes of this operand are accessed together, or one by one.
  virtual bool accessesTogether(const KernelForm &kernel, unsigned operand) const = 0;
  /// Whether expensive values are held from one lane loop to the next.
  virtual bool keeps(const KernelForm &kernel) const = 0;
  /// Element `index` behind a pointer.
  virtual std::string element(llvm::StringRef pointer, unsigned index) const = 0;
  /// A statement in the first lane loop of a row that sends for the lanes at `address`, which
  /// a later loop reads; empty when it needs none.
  virtual std::string prefetch(const KernelForm &kernel, llvm::StringRef address) const = 0;

  /// The condition on which a thread stores a row's value; empty when all that come
  /// by may.
  virtual std::string storesRow(const KernelForm &kernel) const = 0;
  /// The same for a sum over rows, of each lane or of them all.
  virtual std::string storesSum(const KernelForm &kernel, bool lane) const = 0;
  /// A statement before the store of what lies over an operand that the threads of a
  /// row all have read; empty when it needs none.
  virtual std::string beforeTiedStore(const KernelForm &kernel) const = 0;
  /// A statement that completes the sum over rows in `name`, after the row loop.
  virtual std::string completeSum(const KernelForm &kernel, Combine combine, llvm::StringRef name) const = 0;
};

/// A loop over rows around loops over lanes, in the vocabulary of runtime/cpu/kernel.h.
class CpuFlavour final : public Flavour {
public:
  constexpr CpuFlavour()
      : Flavour({/*target=*/"cpu", /*lanes=*/"", /*group=*/"", /*turns=*/"(L + W - 1) / W", /*turn=*/"l / W",
                 /*block=*/"block.id"}) {}
  std::string comment(const KernelForm &) const override { return ""; }
  std::string head(const KernelForm &kernel, const std::string &function, llvm::ArrayRef<Parameter> parameters,
                   llvm::StringRef body) const override;
  LoopText rowLoop(const KernelForm &kernel) const override;
  LoopText innerRowLoop(const KernelForm &kernel, llvm::StringRef first, llvm::StringRef last) const override;
  LoopText laneLoop(const KernelForm &kernel, bool ofBlock, llvm::ArrayRef<std::string> body) const override;
  bool wholeLanes(const KernelForm &kernel) const override { return kernel.analysis.wholeLanes(); }
  bool accessesTogether(const KernelForm &, unsigned) const override { return true; }
  bool keeps(const KernelForm &) const override { return true; }
  std::string element(llvm::StringRef pointer, unsigned index) const override;
  std::string prefetch(const KernelForm &, llvm::StringRef) const override { return ""; }
  std::string storesRow(const KernelForm &) const override { return ""; }
  std::string storesSum(const KernelForm &, bool) const override { return ""; }
  std::string beforeTiedStore(const KernelForm &) const override { return ""; }
  std::string completeSum(const KernelForm &, Combine, llvm::StringRef) const override { return ""; }
};

/// A __global__ function, in the vocabulary of runtime/cuda/kernel.h.
class CudaFlavour final : public Flavour {
public:
  constexpr CudaFlavour()
      : Flavour({/*target=*/"cuda", /*lanes=*/"<W>", /*group=*/"<T>", /*turns=*/"ITERS", /*turn=*/"i",
                 /*block=*/"blockIdx.x"}) {}
  std::string comment(const KernelForm &kernel) const override;
  std::string head(const KernelForm &kernel, const std::string &function, llvm::ArrayRef<Parameter> parameters,
                   llvm::StringRef body) const override;
  LoopText rowLoop(const KernelForm &kernel) const override;
  LoopText innerRowLoop(const KernelForm &kernel, llvm::StringRef first, llvm::StringRef last) const override;
  LoopText laneLoop(const KernelForm &kernel, bool ofBlock, llvm::ArrayRef<std::string> body) const override;
  bool wholeLanes(const KernelForm &kernel) const override;
  bool accessesTogether(const KernelForm &kernel, unsigned operand) const override;
  bool keeps(const KernelForm &kernel) const override { return kernel.shape.keeps; }
  std::string element(llvm::StringRef pointer, unsigned index) const override;
  std::string prefetch(const KernelForm &kernel, llvm::StringRef address) const override;
  std::string storesRow(const KernelForm &kernel) const override;
  std::string storesSum(const KernelForm &kernel, bool lane) const override;
  std::string beforeTiedStore(const KernelForm &kernel) const override;
  std::string completeSum(const KernelForm &kernel, Combine combine, llvm::StringRef name) const override;
};

extern const CpuFlavour cpuFlavour;
extern const CudaFlavour cudaFlavour;

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_FLAVOUR_H
