//===- Facts.td - what a training step needs to know of an op -*- tablegen -*-===//
#ifndef BRAID_TG_FACTS
#define BRAID_TG_FACTS

include "dialects/TG/TGDialect.td"

def TG_Phase : TG_Enum<"Phase", "phase of a training step", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Backward", 1, "backward">,
    I32EnumAttrCase<"Update", 2, "update">]>;

def TG_FactsAttr : TG_Attr<"Facts", "facts"> {
  let summary = "The phase and unit of an op, and the kind and parameter of its tensor";
  let description = [{
    `#tg.facts<forward, unit = "h.0">` is the phase of an op and the unit whose work it does. `#tg.facts<backward, unit
    = "h.0", of = "h.0.attn.w", as = gradient>` also says that the op makes a tensor of that kind for that parameter
    (`ParamAttr::getOf`); a state without a parameter has its own name. A tensor may be the gradient of several: `of =
    ["a", "b"]`. Facts are the metadata of an op's location, `loc(fused<#tg.facts<…>>["h.0.mlp"])`; an op that makes
    several tensors has a list with the facts of each tensor, `loc(fused<[#tg.facts<…>, …]>[…])` (see Facts.h).
  }];
  let parameters = (ins EnumParameter<TG_Phase>:$phase,
                        ArrayRefParameter<"::mlir::StringAttr", "sorted">:$units,
                        ArrayRefParameter<"::mlir::StringAttr", "sorted">:$of,
                        ArrayRefParameter<"::braid::tg::TensorKind", "sorted">:$as);
  let hasCustomAssemblyFormat = 1;
}

#endif // BRAID_TG_FACTS
