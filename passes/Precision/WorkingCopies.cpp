//===- WorkingCopies.cpp - bf16 parameters with f32 masters ---------------===//
//
// The bf16 value that programs read becomes the parameter. The f32 value that the optimizer updates becomes a state
// next to its moments. So passes that shard, gather or count parameters see bf16, and passes for optimizer state see
// the master.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_WORKINGCOPIESPASS
#include "passes/Precision/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;

/// Returns the conversions of a parameter to bf16.
static SmallVector<Operation *> narrowings(BlockArgument parameter) {
  SmallVector<Operation *> found;
  for (Operation *user : parameter.getUsers())
    if (isConversion(user) && tg::typeOf(user->getResult(0)).getElementType().isBF16())
      found.push_back(user);
  return found;
}

namespace {
/// A parameter that programs read in bf16, and its argument in each of them.
struct Narrowed {
  Type type;
  SmallVector<BlockArgument> arguments;
  bool isUpdated = false;
};

/// The working copy and the master of a parameter in one program.
struct Split {
  BlockArgument argument;
  tg::ParamAttr parameter; ///< Attribute of the working copy.
  Type type;
  SmallVector<Operation *> reads;
  BlockArgument master = {}; ///< Set if the program updates it.
};

struct WorkingCopies final : braid::impl::WorkingCopiesPassBase<WorkingCopies> {
  using WorkingCopiesPassBase::WorkingCopiesPassBase;

  void runOnOperation() final {
    auto functions = llvm::make_filter_range(getOperation().getOps<func::FuncOp>(),
                                             [](func::FuncOp function) { return !function.isExternal(); });
    llvm::MapVector<StringAttr, Narrowed> all;
    for (func::FuncOp function : functions) {
      tg::ProgramSignature signature(function);
      for (BlockArgument argument : function.getArguments())
        if (tg::ParamAttr parameter = parameterOf(argument); parameter && !parameter.getCopyOf())
          note(all[parameter.getName()], argument, signature.updateOf(argument));
    }
    for (auto &[name, narrowed] : all)
      if (narrowed.type && failed(check(name, narrowed)))
        return signalPassFailure();
    for (func::FuncOp function : functions)
      rewrite(function, all);
  }

private:
  static void note(Narrowed &narrowed, BlockArgument argument, bool isUpdated) {
    narrowed.arguments.push_back(argument);
    for (Operation *narrowing : narrowings(argument))
      narrowed.type = narrowing->getResult(0).getType();
    narrowed.isUpdated |= isUpdated;
  }

  /// A frozen parameter has no master, so no op may read it in f32.
  LogicalResult check(StringAttr name, const Narrowed &narrowed) {
    if (narrowed.isUpdated)
      return success();
    for (BlockArgument argument : narrowed.arguments)
      for (Operation *user : argument.getUsers())
        if (!isConversion(user) || user->getResult(0).getType() != narrowed.type)
          return user->emitError() << "reads " << name << " as " << argument.getType()
                                   << ", but another op reads it as " << narrowed.type
                                   << ", and no program updates it, so it has no master to copy from; run "
                                      "tg-working-copies after tg-apply-optimizer";
    return success();
  }

  static void rewrite(func::FuncOp function, const llvm::MapVector<StringAttr, Narrowed> &all) {
    tg::ProgramSignature signature(function);
    SignatureEditor editor(function);
    OpBuilder builder(returnOf(function));
    SmallVector<Split> splits;
    for (BlockArgument argument : llvm::to_vector(function.getArguments())) {
      tg::ParamAttr parameter = parameterOf(argument);
      auto found = parameter ? all.find(parameter.getName()) : all.end();
      if (found == all.end() || !found->second.type)
        continue;
      Split split{argument, found->second.isUpdated ? copyOf(parameter) : parameter, found->second.type,
                  narrowings(argument)};
      if (OpOperand *update = signature.updateOf(argument)) {
        Value updated = update->get();
        split.master = editor.addArgument(argument.getType(), masterOf(function, argument, parameter));
        tg::setTensor(updated, parameter.getName(), tg::TensorKind::Master);
        Location loc = tg::withFacts(updated.getLoc(), factsOfParameter(split.parameter, tg::Phase::Update));
        Value copy = tg::TensorBuilder(builder, loc).convert(updated, builder.getBF16Type());
        editor.addResult(copy, tg::kUpdates, split.parameter.getName());
      }
      splits.push_back(std::move(split));
    }
    editor.finish();
    for (Split &split : splits)
      apply(function, split);
    updateType(function);
  }

  /// Makes the argument the working copy; all other uses read the master.
  static void apply(func::FuncOp function, Split &split) {
    if (split.master)
      split.argument.replaceAllUsesExcept(split.master,
                                          SmallPtrSet<Operation *, 4>(split.reads.begin(), split.reads.end()));
    for (Operation *read : split.reads) {
      read->replaceAllUsesWith(ValueRange(split.argument));
      read->erase();
    }
    split.argument.setType(split.type);
    function.setArgAttr(split.argument.getArgNumber(), tg::kParam, split.parameter);
  }

  static tg::ParamAttr copyOf(tg::ParamAttr parameter) {
    auto name = StringAttr::get(parameter.getContext(), parameter.getName().strref() + ".bf16");
    return tg::ParamAttr::get(parameter.getContext(), name, parameter.getInit(), parameter.getUnit(),
                              parameter.getName(), parameter.getFrozen(), parameter.getTransposed(),
                              parameter.getFused());
  }

  /// Returns the attributes of the master state. It has the parameter's name, so checkpoints equal those of an f32
  /// program.
  static SmallVector<NamedAttribute> masterOf(func::FuncOp function, BlockArgument argument, tg::ParamAttr parameter) {
    Builder builder(function.getContext());
    auto state = tg::StateAttr::get(function.getContext(), parameter.getName(), parameter.getInit(),
                                    /*of=*/parameter.getName(), tg::TensorKind::Master, parameter.getTransposed(),
                                    parameter.getFused());
    SmallVector<NamedAttribute> attributes{builder.getNamedAttr(tg::kState, state)};
    if (Attribute sharding = function.getArgAttr(argument.getArgNumber(), comm::CommDialect::kSharding))
      attributes.push_back(builder.getNamedAttr(comm::CommDialect::kSharding, sharding));
    return attributes;
  }
};
} // namespace
