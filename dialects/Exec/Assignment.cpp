//===- Assignment.cpp - the buffer assignment of a function ---------------===//

#include "dialects/Exec/Assignment.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

LogicalResult braid::exec::verifyAssignment(Operation *op, Attribute attribute) {
  auto assignment = dyn_cast<DictionaryAttr>(attribute);
  if (!isa<FunctionOpInterface>(op) || !assignment || assignment.size() != 3)
    return op->emitOpError() << "'" << kAssignment << "' is a dictionary on a function, found " << attribute;
  auto places = assignment.getAs<ArrayAttr>("places");
  auto storages = assignment.getAs<DenseI64ArrayAttr>("storages");
  bool isRight = places && storages && storages.size() % 2 == 0 && assignment.getAs<IntegerAttr>("live_bytes") &&
                 llvm::all_of(places, [](Attribute place) {
                   auto numbers = dyn_cast<DenseI64ArrayAttr>(place);
                   return numbers && numbers.size() >= 2 && numbers[0] >= 0;
                 });
  if (isRight)
    return success();
  return op->emitOpError() << "'" << kAssignment
                           << "' is {live_bytes = <i64>, places = [array<i64: storage, offset, strides…>, …], storages "
                              "= array<i64: bytes, padding, …>}, found "
                           << attribute;
}
