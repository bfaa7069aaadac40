//===- Program.h - what can be run, and what it takes and gives -*- C++ -*-===//
//
// A function on values and a program in memory look the same from here: named
// inputs, named results.  Tensors are logical: a parameter that the program
// holds in another layout is exchanged at this edge.
//
// The program of many ranks is one function that all run, or several that share
// the ranks; what has one name in several is one input or result.  All are
// logical: Shards.h says how ranks get their parts.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_PROGRAM_H
#define BRAID_LIB_REFERENCE_PROGRAM_H

#include "dialects/Comm/Mesh.h"
#include "dialects/Exec/Exec.h"
#include "dialects/TG/FileLayout.h"
#include "dialects/TG/TG.h"
#include "lib/Reference/OpTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <map>

namespace braid::reference {

/// Tensors by name.
using Values = std::map<std::string, Tensor>;

enum class InputKind { Param, State, Input };

struct InputSlot {
  InputKind kind = InputKind::Input;
  std::string name, role;
  std::string copyOf;          ///< of a parameter: whose values it has, rounded; empty for none
  mlir::RankedTensorType type; ///< as the program holds it, all ranks together
  comm::ShardingAttr sharding; ///< how ranks hold it; null without ranks
  tg::InitAttr init;           ///< null for inputs
  tg::FileLayout layout;
  bool frozen = false;
  bool isAccumulator = false;  ///< a state that starts from its initializer in every step
  bool isOfMicrobatch = false; ///< what a stage of a pipeline saves, sends or receives: each rank has its own
  unsigned stream = 0;         ///< of initial values: the number among parameters and states
  /// Ints stay below this: rows of the tables they index, or classes.  0:
  /// unknown.
  int64_t bound = 0;
  std::optional<int64_t> ignoreIndex;

  mlir::RankedTensorType logicalType() const;
};

struct ResultSlot {
  std::string role, updates, gradOf;
  mlir::RankedTensorType type;
  comm::ShardingAttr sharding; ///< as for inputs
  tg::FileLayout layout;

  /// `loss`, `updates w`, `grad_of w`, or empty.
  std::string name() const;
};

struct Signature;

/// What ranks of a pipeline hold of one microbatch, by rank and name.
using HeldTensors = std::map<std::pair<int64_t, std::string>, Tensor>;

/// What a rank returned for a result of the program: its part.
struct RankResult {
  int64_t rank;
  unsigned result;
  Tensor tensor;
};

class Program {
public:
  /// The function or program called `name`, or the only one when it is empty; of
  /// a program of several functions `name` may be any.
  static mlir::FailureOr<Program> find(mlir::ModuleOp module, llvm::StringRef name);
  /// The names of all functions and programs, in order; of the functions that
  /// make one program, the first.
  static std::vector<std::string> names(mlir::ModuleOp module);
  static bool exists(mlir::ModuleOp module, llvm::StringRef name);

  std::string name;
  std::vector<InputSlot> inputs;
  std::vector<ResultSlot> results;

  /// Runs on tensors for each input; returns one for each result.  `perRank`, if
  /// given, gets what each rank returned.
  Results run(llvm::ArrayRef<Tensor> arguments, Arithmetic arithmetic,
              std::vector<RankResult> *perRank = nullptr) const;
  /// The same with inputs by name.
  Results run(const Values &arguments, Arithmetic arithmetic, std::vector<RankResult> *perRank = nullptr) const;

  /// A program of these functions, which some ranks run and others none: cells of a pipeline.
  static mlir::FailureOr<Program> ofCells(llvm::ArrayRef<mlir::Operation *> functions) { return of(functions); }
  /// Runs cells on a microbatch: takes what is of it from `held`, and leaves there what ranks make of it.
  /// Results of these are empty.
  Results runCells(const Values &arguments, Arithmetic arithmetic, HeldTensors &held) const;

  /// Reports an error at the program.
  mlir::LogicalResult emitError(llvm::Error error) const;

  /// Whether the program is what all ranks call by this name.
  bool isEntry(llvm::StringRef entry) const;

  mlir::func::FuncOp function() const { return llvm::dyn_cast<mlir::func::FuncOp>(op()); }

private:
  /// Numbers initial values as they were before the program was cut in stages.
  void numberStreams(comm::PipelineOp pipeline);

  /// A slot of the program and how this member's ranks hold it.
  struct Held {
    unsigned slot;
    comm::ShardingAttr sharding;
  };
  /// A function of the program, with what it takes and gives.
  struct Member {
    mlir::Operation *op;
    llvm::SmallVector<Held> inputs, results;
  };

  static mlir::FailureOr<Program> of(llvm::ArrayRef<mlir::Operation *> functions);
  mlir::LogicalResult addMember(mlir::Operation *op, const Signature &signature);

  mlir::Operation *op() const { return members.front().op; }
  /// Null where the rank runs none.
  const Member *memberOf(int64_t rank, const comm::Mesh &mesh) const;
  Results runOnOne(llvm::ArrayRef<Tensor> arguments, Arithmetic arithmetic) const;
  Results runOnRanks(llvm::ArrayRef<Tensor> arguments, Arithmetic arithmetic, std::vector<RankResult> *perRank,
                     HeldTensors *held = nullptr) const;
  bool isOfMicrobatch(const ResultSlot &slot) const;

  llvm::SmallVector<Member> members;
};

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_PROGRAM_H
