//===- TicketBytes.cpp - who touches the bytes of a collective? -----------===//

#include "lib/Schedule/TicketBytes.h"
#include "dialects/Comm/Comm.h"
#include "lib/Memory/ByteRanges.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

namespace {

/// A reference: where it is in the arena and the buffer, if it is in one, whose
/// life it shares.
struct Access {
  ByteRanges bytes;
  StringRef name;
  BufferOp buffer;
};

/// What a collective under way holds.
struct Held {
  SmallVector<const Access *> sent, received;
};

class TicketVerifier {
public:
  TicketVerifier(ModuleOp module, ProgramOp program) : module(module), program(program) {}
  LogicalResult run();

private:
  LogicalResult resolve();
  LogicalResult hold(comm::StartOp start, int64_t time);
  LogicalResult verifyLife(comm::StartOp start, const Access &access, int64_t started, int64_t waited);
  LogicalResult verifyAction(ActionOpInterface action);
  LogicalResult verifyTouch(ActionOpInterface action, const Access &access, bool writes);

  ModuleOp module;
  ProgramOp program;
  DenseMap<Value, Access> accesses;
  DenseMap<Operation *, int64_t> times;
  llvm::MapVector<Operation *, Held> underWay;
};

} // namespace

LogicalResult TicketVerifier::resolve() {
  struct Place {
    int64_t offset;
    BufferOp buffer;
  };
  llvm::StringMap<Place> places;
  for (auto tensor : module.getOps<TensorOp>())
    places[tensor.getSymName()] = {static_cast<int64_t>(tensor.getOffset()), {}};
  for (auto buffer : program.getBody().front().getOps<BufferOp>())
    places[buffer.getSymName()] = {static_cast<int64_t>(buffer.getOffset()), buffer};
  for (auto ref : program.getBody().front().getOps<RefOp>()) {
    auto place = places.find(ref.getBuffer());
    if (place == places.end())
      return ref.emitOpError() << "to '" << ref.getBuffer() << "', which is no exec.buffer or exec.tensor";
    int64_t offset = place->second.offset + static_cast<int64_t>(ref.getOffset());
    accesses.insert({ref.getResult(), {ByteRanges(ref.getType(), offset), place->first(), place->second.buffer}});
  }
  return success();
}

/// The buffers of a collective live from its start to its wait.
LogicalResult TicketVerifier::verifyLife(comm::StartOp start, const Access &access, int64_t started, int64_t waited) {
  BufferOp buffer = access.buffer;
  if (!buffer || (static_cast<int64_t>(buffer.getFirst()) <= started && waited <= static_cast<int64_t>(buffer.getLast())))
    return success();
  InFlightDiagnostic diagnostic = start.emitOpError()
                                  << "is under way from action " << started << " to its wait, action " << waited
                                  << ", but '" << access.name << "' lives from "
                                  << static_cast<int64_t>(buffer.getFirst()) << " to "
                                  << static_cast<int64_t>(buffer.getLast());
  diagnostic.attachNote(buffer.getLoc()) << "declared here";
  return diagnostic;
}

LogicalResult TicketVerifier::hold(comm::StartOp start, int64_t time) {
  comm::WaitOp wait = start.getWait();
  if (!wait)
    return start.emitOpError() << "is never waited for: its memory could not be used again";
  Held held;
  for (Value in : start.getActionIns())
    held.sent.push_back(&accesses.at(in));
  for (Value out : start.getActionOuts())
    held.received.push_back(&accesses.at(out));
  for (auto *list : {&held.sent, &held.received})
    for (const Access *access : *list)
      if (failed(verifyLife(start, *access, time, times.lookup(wait))))
        return failure();
  underWay.insert({start, std::move(held)});
  return success();
}

LogicalResult TicketVerifier::verifyTouch(ActionOpInterface action, const Access &access, bool writes) {
  auto report = [&](Operation *start, const Access &other, StringRef rule) {
    InFlightDiagnostic diagnostic = action.emitOpError();
    diagnostic << (writes ? "writes" : "reads") << " bytes of '" << access.name << "' that a collective under way "
               << rule;
    diagnostic.attachNote(start->getLoc())
        << "started here with '" << other.name << "'; wait for it before the "
        << (writes ? "write" : "read");
    return diagnostic;
  };
  for (auto &[start, held] : underWay) {
    for (const Access *other : held.received)
      if (overlap(access.bytes, other->bytes))
        return report(start, *other, "receives");
    if (!writes)
      continue;
    for (const Access *other : held.sent)
      if (overlap(access.bytes, other->bytes))
        return report(start, *other, "sends");
  }
  return success();
}

LogicalResult TicketVerifier::verifyAction(ActionOpInterface action) {
  for (auto [operands, writes] : {std::pair(action.getActionIns(), false), std::pair(action.getActionOuts(), true)})
    for (Value operand : operands) {
      auto access = accesses.find(operand);
      if (access == accesses.end())
        return action.emitOpError() << "has an operand that is no exec.ref of this program";
      if (failed(verifyTouch(action, access->second, writes)))
        return failure();
    }
  return success();
}

LogicalResult TicketVerifier::run() {
  Block &body = program.getBody().front();
  if (body.getOps<comm::StartOp>().empty())
    return success();
  if (failed(resolve()))
    return failure();
  for (auto [time, action] : llvm::enumerate(body.getOps<ActionOpInterface>()))
    times[action] = time;
  for (auto action : body.getOps<ActionOpInterface>()) {
    if (auto wait = dyn_cast<comm::WaitOp>(*action))
      underWay.erase(wait.getStart());
    if (failed(verifyAction(action)))
      return failure();
    if (auto start = dyn_cast<comm::StartOp>(*action); start && failed(hold(start, times.lookup(start))))
      return failure();
  }
  return success();
}

LogicalResult braid::verifyTicketBytes(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    if (failed(TicketVerifier(module, program).run()))
      return failure();
  return success();
}
