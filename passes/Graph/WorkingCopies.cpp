//===- WorkingCopies.cpp - parameters in bf16, masters in f32 -------------===//
//
// What a program reads of a parameter becomes the parameter; what the optimizer
// updates becomes a state beside its moments.  So whoever cuts, gathers or counts
// parameters deals with bf16, and whoever deals with optimizer state has the master.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/Signature.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace braid {
#define GEN_PASS_DEF_WORKINGCOPIESPASS
#include "passes/Graph/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// The conversions of a parameter to bf16.
static SmallVector<tg::ConvertOp> narrowings(BlockArgument parameter) {
  SmallVector<tg::ConvertOp> found;
  for (Operation *user : parameter.getUsers())
    if (auto convert = dyn_cast<tg::ConvertOp>(user); convert && convert.getType().getElementType().isBF16())
      found.push_back(convert);
  return found;
}

namespace {
/// A parameter that programs read in bf16, as each of them declares it.
struct Narrowed {
  Type type;
  SmallVector<BlockArgument> arguments;
  bool isUpdated = false;
};

struct WorkingCopies final : braid::impl::WorkingCopiesPassBase<WorkingCopies> {
  using WorkingCopiesPassBase::WorkingCopiesPassBase;

  void runOnOperation() final {
    auto functions = llvm::make_filter_range(getOperation().getOps<func::FuncOp>(),
                                             [](func::FuncOp function) { return !function.isExternal(); });
    llvm::MapVector<StringAttr, Narrowed> all;
    for (func::FuncOp function : functions)
      for (BlockArgument argument : function.getArguments())
        if (tg::ParamAttr parameter = parameterOf(argument); parameter && !parameter.getCopyOf())
          note(all[parameter.getName()], function, argument, parameter);
    for (auto &[name, narrowed] : all)
      if (narrowed.type && failed(check(name, narrowed)))
        return signalPassFailure();
    for (func::FuncOp function : functions)
      rewrite(function, all);
  }

private:
  static void note(Narrowed &narrowed, func::FuncOp function, BlockArgument argument, tg::ParamAttr parameter) {
    narrowed.arguments.push_back(argument);
    for (tg::ConvertOp convert : narrowings(argument))
      narrowed.type = convert.getType();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      narrowed.isUpdated |= function.getResultAttr(i, tg::kUpdates) == parameter.getName();
  }

  /// A frozen parameter has no master, so nobody may want to read it in f32.
  LogicalResult check(StringAttr name, const Narrowed &narrowed) {
    if (narrowed.isUpdated)
      return success();
    for (BlockArgument argument : narrowed.arguments)
      for (Operation *user : argument.getUsers())
        if (!isa<tg::ConvertOp>(user) || user->getResult(0).getType() != narrowed.type)
          return user->emitError() << "reads " << name << " as " << argument.getType() << ", and another op reads it as "
                                   << narrowed.type << "; no program updates it, so there is no master to copy from: "
                                   << "run tg-working-copies after tg-apply-optimizer";
    return success();
  }

  static void rewrite(func::FuncOp function, const llvm::MapVector<StringAttr, Narrowed> &all) {
    llvm::StringMap<Value> updates;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto name = function.getResultAttrOfType<StringAttr>(i, tg::kUpdates))
        updates[name] = returnOf(function).getOperand(i);
    SignatureEditor editor(function);
    OpBuilder builder(returnOf(function));
    SmallVector<std::pair<unsigned, tg::ParamAttr>> renamed;
    for (BlockArgument argument : llvm::to_vector(function.getArguments())) {
      tg::ParamAttr parameter = parameterOf(argument);
      auto found = parameter ? all.find(parameter.getName()) : all.end();
      if (found == all.end() || !found->second.type)
        continue;
      if (found->second.isUpdated)
        renamed.push_back({argument.getArgNumber(), copyOf(parameter)});
      SmallVector<tg::ConvertOp> reads = narrowings(argument);
      if (Value updated = updates.lookup(parameter.getName())) {
        BlockArgument master = editor.addArgument(argument.getType(), masterOf(function, argument, parameter));
        argument.replaceAllUsesExcept(master, SmallPtrSet<Operation *, 4>(reads.begin(), reads.end()));
        Value copy = tg::TensorBuilder(builder, updated.getLoc()).convert(updated, builder.getBF16Type());
        editor.addResult(copy, tg::kUpdates, renamed.back().second.getName());
      }
      for (tg::ConvertOp read : reads) {
        read.replaceAllUsesWith(Value(argument));
        read.erase();
      }
      argument.setType(found->second.type);
    }
    editor.finish();
    for (auto [number, parameter] : renamed)
      function.setArgAttr(number, tg::kParam, parameter);
  }

  static tg::ParamAttr copyOf(tg::ParamAttr parameter) {
    auto name = StringAttr::get(parameter.getContext(), parameter.getName().strref() + ".bf16");
    return tg::ParamAttr::get(parameter.getContext(), name, parameter.getInit(), parameter.getUnit(), parameter.getName(),
                              parameter.getFrozen(), parameter.getTransposed());
  }

  /// The state that a parameter is a copy of: it has the parameter's name, so that
  /// checkpoints are those of a program in f32.
  static SmallVector<NamedAttribute> masterOf(func::FuncOp function, BlockArgument argument, tg::ParamAttr parameter) {
    Builder builder(function.getContext());
    auto state = tg::StateAttr::get(function.getContext(), parameter.getName(), parameter.getInit(),
                                    builder.getStringAttr("optimizer_state"), /*scratch=*/false, parameter.getTransposed());
    SmallVector<NamedAttribute> attributes{builder.getNamedAttr(tg::kState, state)};
    if (Attribute sharding = function.getArgAttr(argument.getArgNumber(), comm::CommDialect::kSharding))
      attributes.push_back(builder.getNamedAttr(comm::CommDialect::kSharding, sharding));
    return attributes;
  }
};
} // namespace
