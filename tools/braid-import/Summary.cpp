//===- Summary.cpp - what an imported graph consists of -------------------===//

#include "tools/braid-import/Summary.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/ProgramSignature.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace llvm;
using namespace mlir;
using namespace braid;

static func::FuncOp modelOf(ModuleOp module) { return *module.getOps<func::FuncOp>().begin(); }

std::vector<std::string> braid::parameterNames(ModuleOp module) {
  std::vector<std::string> names;
  func::FuncOp model = modelOf(module);
  for (BlockArgument argument : model.getArguments())
    if (tg::ParamAttr param = tg::parameterOf(argument))
      names.push_back(param.getName().str());
  return names;
}

static int64_t storedBytes(RankedTensorType type) {
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

void braid::printSummary(raw_ostream &os, ModuleOp module, const Recognized &recognized) {
  func::FuncOp model = modelOf(module);
  int64_t elements = 0, bytes = 0, frozen = 0, states = 0, stateBytes = 0;
  for (BlockArgument argument : model.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    tg::ArgumentAttrs attributes(argument);
    if (attributes.parameter) {
      elements += type.getNumElements();
      bytes += storedBytes(type);
      frozen += attributes.parameter.getFrozen() ? type.getNumElements() : 0;
    } else if (attributes.state) {
      states += type.getNumElements();
      stateBytes += storedBytes(type);
    } else {
      os << "input       " << attributes.input.getValue() << ": " << tg::stringifyRole(attributes.role.getValue())
         << ", " << type << '\n';
    }
  }
  os << "parameters  " << elements << " (" << bytes << " bytes), of which frozen " << frozen << '\n';
  if (states)
    os << "states      " << states << " (" << stateBytes << " bytes)\n";
  double flops = 0;
  std::map<std::string, int64_t> ops;
  model.walk([&](Operation *op) {
    if (op == model || isa<func::ReturnOp>(op))
      return;
    if (auto cost = dyn_cast<CostOpInterface>(op))
      flops += cost.getFlops();
    ++ops[op->getName().getStringRef().str()];
  });
  bool isStep = tg::ProgramSignature(model).updatesParameters();
  os << (isStep ? "step        " : "forward     ") << format("%.3g", flops) << " FLOPs\n";
  for (const auto &[name, count] : recognized)
    os << "recognized  " << name << ": " << count << '\n';
  for (const auto &[name, count] : ops)
    os << "op          " << name << ": " << count << '\n';
}
