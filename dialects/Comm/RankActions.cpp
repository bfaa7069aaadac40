//===- RankActions.cpp - actions without communication --------------------===//
//
// A slice takes a rank's block of a tensor, and an assemble joins blocks. Both are
// ordinary actions, without communication.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// On values and in memory
//===----------------------------------------------------------------------===//

/// rank_c1
static LogicalResult verifyForm(exec::ActionOpInterface action) {
  auto isReference = [](Type type) { return isa<exec::RefType>(type); };
  TypeRange ins = action.getActionIns().getTypes();
  size_t outs = action.getActionOuts().size();
  if (outs + action->getNumResults() != 1)
    return action.emitOpError() << "has " << action->getNumResults() << " results and " << outs
                                << " outs: it needs one result (on values) or one out (in memory)";
  if (outs ? llvm::all_of(ins, isReference) : llvm::none_of(ins, isReference))
    return success();
  return action.emitOpError() << (outs ? "reads a tensor but writes into a reference"
                                       : "reads a reference but has a result")
                              << "; an op is on values or in memory";
}

/// Returns the mesh of an action, whose form is verified too.
template <typename Action> static FailureOr<Mesh> requirePlace(Action action, SymbolTableCollection &tables) {
  FailureOr<Mesh> mesh = requireGroup(action, action.getMeshAttr(), action.getAxes(), tables);
  if (failed(mesh) || failed(verifyForm(action)))
    return failure();
  return mesh;
}

/// A slice reads only its block.
exec::ActionCost SliceOp::getActionCost() {
  int64_t bytes = bytesOf(TypeRange(getType()));
  return {0, 0, bytes, bytes};
}

/// The rows of a block along a dim may be strided; a flat range is contiguous.
static bool mayWriteBlock(int64_t dim, ArrayRef<int64_t> strides) {
  return dim != kFlat && (strides.empty() || strides.back() == 1);
}

bool SliceOp::mayReadStrided(unsigned, ArrayRef<int64_t>) { return int64_t(getDim()) != kFlat; }
bool SliceOp::mayWriteStrided(unsigned, ArrayRef<int64_t> strides) { return mayWriteBlock(getDim(), strides); }
bool AssembleOp::mayReadStrided(unsigned, ArrayRef<int64_t>) { return int64_t(getDim()) != kFlat; }
bool AssembleOp::mayWriteStrided(unsigned, ArrayRef<int64_t> strides) { return mayWriteBlock(getDim(), strides); }

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

LogicalResult AxisIndexOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (failed(requirePlace(*this, tables)))
    return failure();
  auto number = RankedTensorType::get({}, IntegerType::get(getContext(), 32));
  if (getType() != number)
    return emitOpError() << "gives " << getType() << ", but a rank's number is a " << number;
  return success();
}

LogicalResult SliceOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<Mesh> mesh = requirePlace(*this, tables);
  if (failed(mesh))
    return failure();
  int64_t dim = getDim(), ranks = mesh->sizeOf(getAxes());
  RankedTensorType whole = exec::tensorOf(getInput().getType());
  // slice_c1
  if (dim != kFlat && (dim < 0 || dim >= whole.getRank()))
    return emitOpError() << "slices dim " << dim << ", but " << whole << " has " << whole.getRank() << " dims";
  // slice_c2
  if (dim != kFlat && whole.getDimSize(dim) % ranks != 0)
    return emitOpError() << "slices dim " << dim << " of size " << whole.getDimSize(dim)
                         << ", which does not divide into " << ranks
                         << " equal blocks; pad it with tg.pad, or slice it flat";
  // slice_c3
  if (RankedTensorType block = blockType(whole, dim, ranks); getType() != block)
    return emitOpError() << "gives " << getType() << ", but one of " << ranks << " blocks of " << whole << " is "
                         << block;
  return success();
}

/// assemble_c1 and assemble_c2
static LogicalResult verifyPlaces(AssembleOp op, int64_t ranks) {
  // assemble_c1
  if (static_cast<int64_t>(op.getBlocks().size()) != ranks || static_cast<int64_t>(op.getShifts().size()) != ranks)
    return op.emitOpError() << "has " << op.getBlocks().size() << " blocks and " << op.getShifts().size()
                            << " shifts; the group " << op.getAxes().str() << " has " << ranks
                            << " ranks and needs one block and one shift for each";
  if (!llvm::all_equal(llvm::map_range(op.getBlocks().getTypes(), exec::tensorOf)))
    return op.emitOpError() << "has blocks of different types; give all blocks one type";
  // assemble_c2
  llvm::SmallSet<int64_t, 8> places;
  for (int64_t shift : op.getShifts())
    if (!places.insert(((shift % ranks) + ranks) % ranks).second)
      return op.emitOpError() << "puts two blocks in one place: shift " << shift << " occurs twice modulo " << ranks;
  return success();
}

LogicalResult AssembleOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<Mesh> mesh = requirePlace(*this, tables);
  if (failed(mesh))
    return failure();
  int64_t dim = getDim(), ranks = mesh->sizeOf(getAxes());
  if (failed(verifyPlaces(*this, ranks)))
    return failure();
  RankedTensorType block = exec::tensorOf(getBlocks().front().getType()), whole = getType();
  // assemble_c3
  if (dim == kFlat && blockType(whole, kFlat, ranks) != block)
    return emitOpError() << "gives " << whole << ", whose flat range on each of " << ranks << " ranks is "
                         << blockType(whole, kFlat, ranks) << ", but the blocks are " << block;
  if (dim != kFlat && (dim < 0 || dim >= block.getRank()))
    return emitOpError() << "joins along dim " << dim << ", but " << block << " has " << block.getRank() << " dims";
  if (dim != kFlat && wholeType(block, dim, ranks) != whole)
    return emitOpError() << "gives " << whole << ", but " << ranks << " blocks " << block << " along dim " << dim
                         << " are " << wholeType(block, dim, ranks);
  return success();
}
