//===- Units.cpp - names of parameters as units and initial values --------===//

#include "lib/Import/Units.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

std::string braid::unitOf(StringRef parameter) {
  SmallVector<StringRef> parts;
  parameter.split(parts, '.');
  for (size_t i = 0; i + 1 < parts.size(); ++i)
    if (all_of(parts[i], isDigit))
      return join(ArrayRef(parts).take_front(i + 1), ".");
  return parts.size() > 1 ? join(ArrayRef(parts).drop_back(), ".") : parameter.str();
}

tg::InitAttr braid::initialValues(StringRef parameter, MLIRContext *context) {
  auto [module, name] = parameter.rsplit('.');
  auto isNorm = [](StringRef name) { return name.contains_insensitive("norm") || name.starts_with_insensitive("ln"); };
  StringRef owner = module.contains('.') ? module.rsplit('.').second : module;
  bool isScale = is_contained({"weight", "scale", "g", "gamma"}, name) && isNorm(owner);
  if (isScale || name == "scale" || isNorm(name.empty() ? parameter : name))
    return tg::InitAttr::get(context, tg::InitKind::Ones, APFloat(0.0), APFloat(0.0), 0);
  if (name == "bias" || name == "b" || name == "beta")
    return tg::InitAttr::get(context, tg::InitKind::Zeros, APFloat(0.0), APFloat(0.0), 0);
  return tg::InitAttr::get(context, tg::InitKind::Normal, APFloat(0.0), APFloat(0.02), 0);
}

tg::StateAttr braid::stateOfProgram(StringRef name, double initial, MLIRContext *context) {
  APFloat number(initial), zero(0.0);
  bool isZero = number.isZero(), isOne = number.isExactlyValue(1);
  tg::InitKind kind = isZero ? tg::InitKind::Zeros : isOne ? tg::InitKind::Ones : tg::InitKind::Constant;
  auto init = tg::InitAttr::get(context, kind, isZero || isOne ? zero : number, zero, 0);
  return tg::StateAttr::get(context, StringAttr::get(context, name), init, {}, tg::TensorKind::RunningStatistic, false,
                            -1);
}
