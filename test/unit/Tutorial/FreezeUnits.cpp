//===- FreezeUnits.cpp - parameters that fine-tuning leaves alone ---------===//

#include "dialects/TG/TG.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/unit/Tutorial/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace braid {
#define GEN_PASS_DEF_FREEZEUNITSPASS
#include "test/unit/Tutorial/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid::tg;

static ParamAttr asFrozen(ParamAttr param) {
  return ParamAttr::get(param.getContext(), param.getName(), param.getInit(), param.getUnit(), param.getCopyOf(),
                        /*frozen=*/true, param.getTransposed(), param.getFused());
}

namespace {
struct FreezeUnits : braid::impl::FreezeUnitsPassBase<FreezeUnits> {
  using FreezeUnitsPassBase::FreezeUnitsPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    llvm::SetVector<StringRef> known; // in the order of the arguments, for the message
    for (unsigned number = 0; number < function.getNumArguments(); ++number) {
      auto param = function.getArgAttrOfType<ParamAttr>(number, kParam);
      if (!param || !param.getUnit())
        continue;
      known.insert(param.getUnit());
      if (llvm::is_contained(units, param.getUnit()))
        function.setArgAttr(number, kParam, asFrozen(param));
    }
    for (const std::string &unit : units) {
      if (known.contains(unit))
        continue;
      function.emitOpError() << "has no parameter of unit '" << unit << "' (units: " << llvm::join(known, ", ") << ")";
      return signalPassFailure();
    }
  }
};
} // namespace
