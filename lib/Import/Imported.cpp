//===- Imported.cpp - results of an imported model ------------------------===//

#include "lib/Import/Imported.h"
#include "dialects/TG/TGBuilder.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

LogicalResult braid::finishModel(func::FuncOp function, ArrayRef<DictionaryAttr> argumentAttributes,
                                 ArrayRef<ModelOutput> outputs, StringRef remedy) {
  OpBuilder builder = OpBuilder::atBlockEnd(&function.getBody().front());
  MLIRContext *context = builder.getContext();
  SmallVector<Value> results;
  SmallVector<Attribute> attributes;
  bool hasLoss = false;
  for (const ModelOutput &output : outputs) {
    RankedTensorType type = tg::typeOf(output.value);
    bool isLoss = !output.isUpdate && !hasLoss && type.getRank() == 0 && isa<FloatType>(type.getElementType());
    NamedAttribute name =
        isLoss ? builder.getNamedAttr("tg.role", tg::RoleAttr::get(context, tg::Role::Loss))
               : builder.getNamedAttr(output.isUpdate ? "tg.updates" : "tg.output", builder.getStringAttr(output.name));
    hasLoss |= isLoss;
    results.push_back(output.value);
    attributes.push_back(builder.getDictionaryAttr(name));
  }
  if (!hasLoss)
    return emitError(function.getLoc()) << "no output is a loss, a float tensor without dims; " << remedy;
  builder.create<func::ReturnOp>(function.getLoc(), results);
  function.setType(FunctionType::get(context, function.getBody().front().getArgumentTypes(), TypeRange(results)));
  function.setArgAttrsAttr(
      builder.getArrayAttr(SmallVector<Attribute>(argumentAttributes.begin(), argumentAttributes.end())));
  function.setResAttrsAttr(builder.getArrayAttr(attributes));
  return success();
}
