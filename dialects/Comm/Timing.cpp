//===- Timing.cpp - predicted times of a collective -----------------------===//

#include "dialects/Comm/Timing.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

DictionaryAttr Timing::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  return builder.getDictionaryAttr({builder.getNamedAttr("predicted_s", builder.getF64FloatAttr(predicted)),
                                    builder.getNamedAttr("exposed_s", builder.getF64FloatAttr(exposed)),
                                    builder.getNamedAttr("waits_for", builder.getStringAttr(waitsFor))});
}

std::optional<Timing> comm::timingOf(Operation *op, StringRef name) {
  auto attribute = op->getAttrOfType<DictionaryAttr>(name);
  if (!attribute)
    return std::nullopt;
  return Timing{attribute.getAs<FloatAttr>("predicted_s").getValueAsDouble(),
                attribute.getAs<FloatAttr>("exposed_s").getValueAsDouble(),
                attribute.getAs<StringAttr>("waits_for").str()};
}

LogicalResult comm::verifyTiming(Operation *op, Attribute attribute) {
  if (!isa<QueuedOpInterface, StartOp, FunctionOpInterface, exec::ProgramOp>(op))
    return op->emitOpError()
           << "has 'comm.timing', which belongs on a collective, a comm.copy, a comm.start or a program";
  auto timing = dyn_cast<DictionaryAttr>(attribute);
  if (timing && timing.size() == 3 && timing.getAs<FloatAttr>("predicted_s") && timing.getAs<FloatAttr>("exposed_s") &&
      timing.getAs<StringAttr>("waits_for"))
    return success();
  return op->emitOpError() << "'comm.timing' is {predicted_s = <f64>, exposed_s = <f64>, waits_for = <string>}, found "
                           << attribute;
}
