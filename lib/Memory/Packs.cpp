//===- Packs.cpp - adjacent parameters ------------------------------------===//

#include "lib/Memory/Packs.h"

using namespace mlir;
using namespace braid;

StringAttr braid::packOf(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), exec::kPack) : StringAttr();
}

StringAttr braid::packOf(exec::ConcatOp concat) {
  auto first = dyn_cast<BlockArgument>(concat.getInputs().front());
  StringAttr pack = first && concat.getDim() == 0 ? packOf(first) : StringAttr();
  if (!pack)
    return {};
  SmallVector<Value> members;
  for (BlockArgument argument : first.getOwner()->getArguments())
    if (packOf(argument) == pack)
      members.push_back(argument);
  return llvm::equal(concat.getInputs(), members) ? pack : StringAttr();
}
