//===- Program.h - runnable programs, with inputs and results ---*- C++ -*-===//
//
// A function on values and a program in memory form have the same interface here: named
// inputs and named results.  Tensors are logical: a parameter that the program holds in
// another layout is converted here.
//
// The program of many ranks is one function that all ranks run, or several functions
// for different ranks. Inputs or results with the same name in several functions are
// one.  All are logical; ProgramRanks.cpp gives ranks their parts.
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
  std::string copyOf;          ///< for a copy: the parameter whose rounded values it has; else empty
  mlir::RankedTensorType type; ///< type in the program, all ranks together
  comm::ShardingAttr sharding; ///< sharding over the ranks; null without ranks
  tg::InitAttr init;           ///< null for inputs
  tg::FileLayout layout;
  bool frozen = false;
  bool isAccumulator = false;  ///< a state that starts from its initializer in every step
  bool isOfMicrobatch = false; ///< tensor that a stage of a pipeline saves, sends or receives: each rank has its own
  unsigned stream = 0;         ///< random stream of initial values: the number among parameters and states
  /// Upper limit of ints: rows of the tables that they index, or classes. 0: unknown.
  int64_t bound = 0;
  std::optional<int64_t> ignoreIndex;

  mlir::RankedTensorType logicalType() const;
};

struct ResultSlot {
  std::string role, updates, gradOf;
  mlir::RankedTensorType type;
  comm::ShardingAttr sharding; ///< as for inputs
  tg::FileLayout layout;

  /// Returns `loss`, `updates w`, `grad_of w`, or an empty string.
  std::string name() const;
};

/// Inputs and results of one function or program, in the order of its process.
struct Signature {
  std::vector<InputSlot> inputs;
  std::vector<ResultSlot> results;
};

mlir::FailureOr<Signature> signatureOf(mlir::func::FuncOp function);
mlir::FailureOr<Signature> signatureOf(exec::ProgramOp program);

/// Tensors of one microbatch that ranks of a pipeline hold, by rank and name.
using HeldTensors = std::map<std::pair<int64_t, std::string>, Tensor>;

/// The part of a result that one rank returned.
struct RankResult {
  int64_t rank;
  unsigned result;
  Tensor tensor;
};

class Program {
public:
  /// Finds the function or program called `name`, or the only one if `name` is empty.
  /// For a program of several functions, `name` may be any of them.
  static mlir::FailureOr<Program> find(mlir::ModuleOp module, llvm::StringRef name);
  /// Returns the names of all functions and programs, in order; for functions that form one program, the first.
  static std::vector<std::string> names(mlir::ModuleOp module);
  static bool exists(mlir::ModuleOp module, llvm::StringRef name);

  std::string name;
  std::vector<InputSlot> inputs;
  std::vector<ResultSlot> results;

  /// Runs on a tensor for each input; returns one for each result. `perRank`, if given,
  /// gets the results of each rank.
  Results run(llvm::ArrayRef<Tensor> arguments, Arithmetic arithmetic,
              std::vector<RankResult> *perRank = nullptr) const;
  /// Runs with inputs by name.
  Results run(const Values &arguments, Arithmetic arithmetic, std::vector<RankResult> *perRank = nullptr) const;

  /// Returns a program of cells of a pipeline: functions that only some ranks run.
  static mlir::FailureOr<Program> ofCells(llvm::ArrayRef<mlir::Operation *> functions) { return of(functions); }
  /// Runs cells on a microbatch: takes the microbatch's tensors from `held`, and leaves there those that
  /// ranks make of it. Results of these are empty.
  Results runCells(const Values &arguments, Arithmetic arithmetic, HeldTensors &held) const;

  /// Reports an error at the program.
  mlir::LogicalResult emitError(llvm::Error error) const;

  /// Returns whether the program has this entry, its name on all ranks.
  bool isEntry(llvm::StringRef entry) const;

  mlir::func::FuncOp function() const { return llvm::dyn_cast<mlir::func::FuncOp>(op()); }

private:
  /// Numbers initial values as they were before the program was cut into stages.
  void numberStreams(comm::PipelineOp pipeline);

  /// A slot of the program, and the sharding of it on this member's ranks.
  struct Held {
    unsigned slot;
    comm::ShardingAttr sharding;
  };
  /// A function of the program, with its inputs and results.
  struct Member {
    mlir::Operation *op;
    llvm::SmallVector<Held> inputs, results;
  };

  static mlir::FailureOr<Program> of(llvm::ArrayRef<mlir::Operation *> functions);
  mlir::LogicalResult addMember(mlir::Operation *op, const Signature &signature);

  mlir::Operation *op() const { return members.front().op; }
  /// Returns the member that a rank runs; null if it runs none.
  const Member *memberOf(int64_t rank, const comm::Mesh &mesh) const;
  Results runOnOne(llvm::ArrayRef<Tensor> arguments, Arithmetic arithmetic) const;
  Results runOnRanks(llvm::ArrayRef<Tensor> arguments, Arithmetic arithmetic, std::vector<RankResult> *perRank,
                     HeldTensors *held = nullptr) const;
  bool isOfMicrobatch(const ResultSlot &slot) const;

  llvm::SmallVector<Member> members;
};

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_PROGRAM_H
