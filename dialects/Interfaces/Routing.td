//===- Routing.td - ops that send tokens to destinations -------*- tablegen -*-//
#ifndef BRAID_ROUTING
#define BRAID_ROUTING

include "mlir/IR/OpBase.td"

def RoutingOpInterface : OpInterface<"RoutingOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    An op that sends tokens to one of several destinations, such as experts, which the data
    choose.  What is computed of its result is computed for each destination by itself, with
    weights of its own, so these may lie on different ranks: tokens then go to the ranks of
    their destinations.
  }];
  let methods = [InterfaceMethod<
    "The result that destinations receive.", "::mlir::OpResult", "getRouted">,
  InterfaceMethod<
    "Which of its dims tells destinations apart.", "unsigned", "getDestinationDim">];
}

#endif // BRAID_ROUTING
