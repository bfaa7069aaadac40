//===- WaitingGradients.cpp - gradients that wait for the update ----------===//

#include "lib/Memory/WaitingGradients.h"
#include "dialects/TG/Facts.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

static StringRef bufferOf(Value ref) { return ref.getDefiningOp<RefOp>().getBuffer(); }

/// Returns whether all results of an action belong to the update phase.
static bool isOfUpdate(ActionOpInterface action) {
  unsigned count = action.getActionOuts().size();
  return count > 0 && llvm::all_of(llvm::seq(count), [&](unsigned out) {
           tg::FactsAttr facts = tg::factsOfTensor(action.getLoc(), out, count);
           return facts && facts.getPhase() == tg::Phase::Update;
         });
}

WaitingGradients::WaitingGradients(ProgramOp program) {
  Block &body = program.getBody().front();
  llvm::StringSet<> buffers, gradients, ofNorm;
  for (auto buffer : body.getOps<BufferOp>()) {
    buffers.insert(buffer.getSymName());
    if (buffer.getCategory() == Category::Gradients)
      gradients.insert(buffer.getSymName());
    if (buffer.getRole() == tg::stringifyRole(tg::Role::GradNorm))
      ofNorm.insert(buffer.getSymName());
  }
  int64_t index = 0;
  for (auto action : body.getOps<ActionOpInterface>()) {
    ++index;
    auto begun = cast<ActionOpInterface>(action.getActionBegin());
    SmallVector<Value> touched(begun.getActionIns());
    llvm::append_range(touched, begun.getActionOuts());
    if (!isOfUpdate(begun))
      for (Value ref : touched)
        if (gradients.contains(bufferOf(ref)))
          needed[bufferOf(ref)] = index;
    // Follow the values computed from the norm, and other results of the same actions, such as a scale factor.
    if (llvm::none_of(touched, [&](Value ref) { return ofNorm.contains(bufferOf(ref)); }))
      continue;
    for (Value out : begun.getActionOuts()) {
      ofNorm.insert(bufferOf(out));
      waitForNorm |= !buffers.contains(bufferOf(out));
    }
  }
}
