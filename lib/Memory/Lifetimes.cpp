//===- Lifetimes.cpp - numbering lives anew -------------------------------===//

#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Causes.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

void braid::renumberLifetimes(ProgramOp program) {
  Block &body = program.getBody().front();
  struct Life {
    int64_t first = -1, last = -1;
    bool used = false;
    void use(int64_t time) {
      first = used ? first : time;
      last = time;
      used = true;
    }
  };
  llvm::DenseMap<StringAttr, Life> lives;
  Life workspace;
  int64_t time = 0;
  for (auto action : body.getOps<ActionOpInterface>()) {
    for (Value operand : action->getOperands())
      lives[operand.getDefiningOp<RefOp>().getBufferAttr().getAttr()].use(time);
    if (action.getWorkspaceBytes(/*cap=*/1) > 0)
      workspace.use(time);
    ++time;
  }
  Builder builder(program.getContext());
  for (auto buffer : body.getOps<BufferOp>()) {
    Life life = buffer.getCause() == kWorkspace ? workspace : lives.lookup(buffer.getSymNameAttr());
    int64_t first = buffer.getIo() == "input" ? -1 : life.first;
    int64_t last = buffer.getIo() == "result" ? time : life.last;
    buffer.setFirstAttr(builder.getI64IntegerAttr(first));
    buffer.setLastAttr(builder.getI64IntegerAttr(last));
  }
}
