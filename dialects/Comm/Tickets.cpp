//===- Tickets.cpp - start and wait ---------------------------------------===//
//
// A ticket connects a wait to its start. Between the two, the collective or copy owns the
// memory of its results, and its operands must not change.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// start_c3: the ticket is waited for exactly once, later in the block of the start, and has no other use.
static LogicalResult verifyTicket(StartOp start) {
  WaitOp wait;
  for (Operation *user : start.getTicket().getUsers()) {
    auto found = dyn_cast<WaitOp>(user);
    if (!found || wait) {
      InFlightDiagnostic diagnostic = start.emitOpError()
                                      << (found ? "has a ticket with two comm.waits; remove one of them"
                                                : "has a ticket that is used by an op other than comm.wait");
      diagnostic.attachNote(user->getLoc()) << "here";
      return diagnostic;
    }
    wait = found;
  }
  if (!wait)
    return start.emitOpError() << "has a ticket that is never waited for; add a comm.wait in this block";
  if (wait->getBlock() == start->getBlock() && start->isBeforeInBlock(wait))
    return success();
  InFlightDiagnostic diagnostic = start.emitOpError() << "has a ticket whose comm.wait is in another block or before "
                                                         "the start; move it behind the start in the same block";
  diagnostic.attachNote(wait.getLoc()) << "here";
  return diagnostic;
}

LogicalResult StartOp::verifyRegions() {
  Block &body = getBody().front();
  // start_c1
  if (!llvm::hasSingleElement(body) || !isa<QueuedOpInterface>(body.front()))
    return emitOpError() << "must hold one collective or comm.copy, but holds "
                         << (body.empty()                   ? "nothing"
                             : llvm::hasSingleElement(body) ? "another op"
                                                            : "several ops");
  // start_c2
  ArrayRef<Type> held = getTicket().getType().getTypes();
  if (TypeRange results = body.front().getResultTypes(); results != TypeRange(held))
    return emitOpError() << "has the ticket " << getTicket().getType() << ", but the op in its body has the results "
                         << TicketType::get(getContext(), llvm::to_vector(results));
  return verifyTicket(*this);
}

LogicalResult WaitOp::verify() {
  // wait_c2
  if (!getStart())
    return emitOpError() << "waits for a ticket that no comm.start makes";
  // wait_c1
  TicketType ticket = getTicket().getType();
  if (TypeRange(ticket.getTypes()) != getResultTypes())
    return emitOpError() << "has the results " << TicketType::get(getContext(), llvm::to_vector(getResultTypes()))
                         << ", but the ticket is " << ticket;
  return success();
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

WaitOp StartOp::getWait() {
  for (Operation *user : getTicket().getUsers())
    if (auto wait = dyn_cast<WaitOp>(user))
      return wait;
  return {};
}

static exec::ActionOpInterface actionIn(StartOp start) {
  return cast<exec::ActionOpInterface>(start.getWork().getOperation());
}

OperandRange StartOp::getActionIns() { return actionIn(*this).getActionIns(); }
OperandRange StartOp::getActionOuts() { return actionIn(*this).getActionOuts(); }
ResultRange StartOp::getActionResults() {
  WaitOp wait = getWait();
  return wait ? wait->getResults() : (*this)->getResults().take_front(0);
}
Operation *StartOp::getActionEnd() {
  WaitOp wait = getWait();
  return wait ? wait : getOperation();
}
std::string StartOp::getActionName() { return actionIn(*this).getActionName(); }
bool StartOp::isOrdered() { return actionIn(*this).isOrdered(); }
bool StartOp::mayReadStrided(unsigned in, ArrayRef<int64_t> strides) {
  return actionIn(*this).mayReadStrided(in, strides);
}
bool StartOp::mayWriteInPlace(unsigned result, unsigned in) { return actionIn(*this).mayWriteInPlace(result, in); }

OperandRange WaitOp::getActionIns() { return (*this)->getOperands().drop_front(); }
OperandRange WaitOp::getActionOuts() { return (*this)->getOperands().drop_front(); }
ResultRange WaitOp::getActionResults() { return (*this)->getResults().take_front(0); }
Operation *WaitOp::getActionBegin() {
  StartOp start = getStart();
  return start ? start : getOperation();
}
std::string WaitOp::getActionName() { return "wait"; }
bool WaitOp::isOrdered() {
  StartOp start = getStart();
  return !start || start.isOrdered();
}

/// Both order the queue, so they are never removed, merged or reordered.
void StartOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}

void WaitOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}
