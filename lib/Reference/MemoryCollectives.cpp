//===- MemoryCollectives.cpp - collectives of programs in memory form -----===//

#include "lib/Reference/Memory.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Flights
//===----------------------------------------------------------------------===//

/// Reads the operands of a collective or copy and puts it on the rank's queue.
FailureOr<Machine::Flight> Machine::startFlight(Operation *op) {
  if (!network && !isa<comm::CopyOp>(op))
    return op->emitError() << "'" << op->getName() << "' is in a program without 'comm.program', which has no ranks";
  auto action = cast<exec::ActionOpInterface>(op);
  Flight flight{op, nullptr, {}, {}};
  SmallVector<Tensor> sent;
  for (Value in : action.getActionIns()) {
    FailureOr<Tensor> tensor = readOperand(op, in);
    if (failed(tensor))
      return failure();
    sent.push_back(std::move(*tensor));
    flight.ins.push_back(*placeOf(op, in));
  }
  for (Value out : action.getActionOuts()) {
    FailureOr<Place> place = placeOf(op, out);
    if (failed(place))
      return failure();
    flight.outs.push_back(*place);
  }
  if (failed(checkAliases(op)) || failed(checkFlights(op)))
    return failure();
  if (isa<comm::CopyOp>(op)) {
    flight.request = copyRequest(op, std::move(sent));
  } else {
    auto request = network->start(rank, cast<comm::CollectiveOpInterface>(op), std::move(sent));
    if (failed(request))
      return failure();
    flight.request = *request;
  }
  for (const Place &out : flight.outs)
    arena.reserve(out);
  return flight;
}

/// Checks that no action accessed the memory that the collective reads and writes, and writes the received tensors.
LogicalResult Machine::completeFlight(Operation *user, const Flight &flight) {
  for (const Place &in : flight.ins) {
    bool inPlace = llvm::any_of(flight.outs, [&](const Place &out) { return out == in; });
    if (!inPlace && failed(readWhole(user, in)))
      return failure();
  }
  for (auto [i, out] : llvm::enumerate(flight.outs)) {
    Place reserved = out;
    reserved.owner = Arena::kReserved;
    if (std::optional<Arena::ForeignElement> stranger = arena.findForeignElement(reserved)) {
      InFlightDiagnostic error = user->emitError()
                                 << "ends a collective whose out " << i << ", in '" << names[out.owner] << "', ";
      error.attachNote(flight.op->getLoc()) << "the collective is here";
      if (stranger->owner == Arena::kNoOwner)
        return error << "was given to another buffer since its start";
      return error << "was written through '" << names[stranger->owner] << "' since its start";
    }
    arena.write(out, flight.request->received[i]);
  }
  return success();
}

/// Checks that an action writes no operand of a collective in flight.
LogicalResult Machine::checkFlights(Operation *op) {
  for (const auto &[ticket, flight] : flights)
    for (auto [j, out] : llvm::enumerate(cast<exec::ActionOpInterface>(op).getActionOuts()))
      for (auto [k, in] : llvm::enumerate(flight.ins))
        if (overlap(*placeOf(op, out), in)) {
          InFlightDiagnostic error = op->emitError() << "writes out " << j << " over operand " << k
                                                     << " of a collective that is not waited for yet";
          error.attachNote(flight.op->getLoc()) << "the collective is here";
          return error;
        }
  return success();
}

//===----------------------------------------------------------------------===//
// Start and wait
//===----------------------------------------------------------------------===//

/// Runs a start, a wait or, as both in one, a collective or a copy. Returns false if it must wait for other ranks.
FailureOr<bool> Machine::runCollective(Operation *op) {
  // A blocking collective is its own ticket.
  auto wait = dyn_cast<comm::WaitOp>(op);
  auto start = dyn_cast<comm::StartOp>(op);
  Operation *ticket = wait ? wait.getStart() : op;
  auto found = flights.find(ticket);
  if (found == flights.end()) {
    FailureOr<Flight> flight = startFlight(start ? start.getWork().getOperation() : op);
    if (failed(flight))
      return failure();
    found = flights.insert({ticket, std::move(*flight)}).first;
  }
  if (start)
    return true;
  if (!found->second.request->done)
    return false;
  Flight flight = std::move(found->second);
  flights.erase(ticket);
  return failed(completeFlight(op, flight)) ? FailureOr<bool>(failure()) : true;
}
