//===- Units.cpp - names of a state_dict as units and initial values ------===//

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
  std::string owner = module.rsplit('.').second.lower();
  bool isNorm = StringRef(owner).contains("norm") || StringRef(owner).starts_with("ln");
  if (name == "weight" && isNorm)
    return tg::InitAttr::get(context, tg::InitKind::Ones, APFloat(0.0), APFloat(0.0), 0);
  if (name == "bias")
    return tg::InitAttr::get(context, tg::InitKind::Zeros, APFloat(0.0), APFloat(0.0), 0);
  return tg::InitAttr::get(context, tg::InitKind::Normal, APFloat(0.0), APFloat(0.02), 0);
}
