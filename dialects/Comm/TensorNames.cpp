//===- TensorNames.cpp - names of the tensors of a collective -------------===//

#include "dialects/Comm/TensorNames.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

SmallVector<StringRef> comm::tensorNamesOf(CollectiveOpInterface op) {
  auto names = op->getAttrOfType<ArrayAttr>(kTensors);
  return names ? llvm::to_vector(names.getAsValueRange<StringAttr>()) : SmallVector<StringRef>();
}

void comm::setTensorNames(CollectiveOpInterface op, ArrayRef<StringRef> names) {
  op->setAttr(kTensors, Builder(op->getContext()).getStrArrayAttr(names));
}

LogicalResult comm::verifyTensorNames(Operation *op, Attribute attribute) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective)
    return op->emitOpError() << "has 'comm.tensors', which belongs on a collective";
  auto names = dyn_cast<ArrayAttr>(attribute);
  if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return op->emitOpError() << "'comm.tensors' is a list of names, found " << attribute;
  if (names.size() != collective.getSent().size())
    return op->emitOpError() << "'comm.tensors' has " << names.size() << " names for the "
                             << collective.getSent().size() << " tensors that are sent";
  return success();
}
