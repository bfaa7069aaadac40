//===- Routing.td - ops that send tokens to destinations -------*- tablegen -*-//
#ifndef BRAID_ROUTING
#define BRAID_ROUTING

include "mlir/IR/OpBase.td"

def RoutingOpInterface : OpInterface<"RoutingOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    An op that sends tokens to one of several destinations, such as experts. The data choose the destination. Each
    destination processes its tokens separately, with weights of its own, so the destinations may lie on different
    ranks. Tokens then go to the ranks of their destinations.
  }];
  let methods = [InterfaceMethod<
    "The result that destinations receive.", "::mlir::OpResult", "getRouted">,
  InterfaceMethod<
    "The dim of this result that numbers the destinations.", "unsigned", "getDestinationDim">];
}

#endif // BRAID_ROUTING
