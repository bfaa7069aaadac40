//===- Stacked.cpp - parameters that hold a tensor for each layer ---------===//
//
// lax.scan reads layer i of each parameter of its layers. Such a parameter becomes one for each layer, so that layers
// are units, and the gradient of a layer needs no zeros for the others.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/ProgramSignature.h"
#include "lib/Import/StableHLO/TranslatorState.h"
#include "lib/Import/Units.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::stablehlo;

/// Whether a parameter is read only layer by layer, along its first dim, and each layer is read.
static bool isStacked(BlockArgument argument) {
  if (!tg::parameterOf(argument) || tg::typeOf(argument).getRank() == 0 || argument.use_empty())
    return false;
  llvm::DenseSet<int64_t> layers;
  for (Operation *user : argument.getUsers()) {
    auto slice = dyn_cast<tg::SliceOp>(user);
    if (!slice || slice.getDim() != 0 || slice.getSize() != 1)
      return false;
    layers.insert(slice.getOffset());
  }
  return static_cast<int64_t>(layers.size()) == tg::typeOf(argument).getDimSize(0);
}

/// Returns the path that all names share, in whole keys; of one name, all but its last key.
static std::string sharedPath(ArrayRef<std::string> names) {
  SmallVector<StringRef> shared, keys;
  StringRef(names.front()).split(shared, '.');
  shared.pop_back();
  for (const std::string &name : names.drop_front()) {
    keys.clear();
    StringRef(name).split(keys, '.');
    size_t same = 0;
    while (same < shared.size() && same < keys.size() && shared[same] == keys[same])
      ++same;
    shared.truncate(same);
  }
  return join(shared, ".");
}

/// Replaces a parameter by one for each layer, whose number stands behind `path` in the name.
static void split(func::FuncOp function, unsigned number, StringRef path) {
  BlockArgument argument = function.getArgument(number);
  tg::ParamAttr param = tg::parameterOf(argument);
  RankedTensorType type = tg::typeOf(argument), layerType = tg::withShape(type, type.getShape().drop_front());
  SmallVector<Operation *> slices(argument.getUsers());
  StringRef rest = param.getName().getValue().drop_front(path.empty() ? 0 : path.size() + 1);
  Builder builder(function.getContext());
  for (int64_t layer = 0; layer < type.getDimSize(0); ++layer) {
    std::string name = (path + (path.empty() ? "" : ".") + Twine(layer) + "." + rest).str();
    auto part =
        tg::ParamAttr::get(builder.getContext(), builder.getStringAttr(name), initialValues(name, builder.getContext()),
                           builder.getStringAttr(unitOf(name)), {}, param.getFrozen(), false, -1);
    function.insertArgument(number + 1 + layer, layerType,
                            builder.getDictionaryAttr(builder.getNamedAttr("tg.param", part)), function.getLoc());
  }
  for (Operation *slice : slices) {
    OpBuilder at(slice);
    Value layer = function.getArgument(number + 1 + cast<tg::SliceOp>(slice).getOffset());
    auto reshape = at.create<tg::ReshapeOp>(slice->getLoc(), slice->getResult(0).getType(), layer);
    slice->getResult(0).replaceAllUsesWith(reshape);
    slice->erase();
  }
  function.eraseArgument(number);
}

void braid::stablehlo::splitStacked(func::FuncOp function) {
  // Parameters of one container are stacked together.
  std::map<std::string, std::vector<std::string>> namesOfContainer;
  auto containerOf = [](BlockArgument argument) {
    auto [container, rest] = tg::parameterOf(argument).getName().getValue().split('.');
    return rest.empty() ? std::string() : container.str();
  };
  SmallVector<unsigned> stacked;
  for (BlockArgument argument : function.getArguments())
    if (isStacked(argument)) {
      stacked.push_back(argument.getArgNumber());
      namesOfContainer[containerOf(argument)].push_back(tg::parameterOf(argument).getName().str());
    }
  for (unsigned number : reverse(stacked))
    split(function, number, sharedPath(namesOfContainer[containerOf(function.getArgument(number))]));
}
