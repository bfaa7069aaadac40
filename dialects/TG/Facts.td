//===- Facts.td - what a training step needs to know of an op -*- tablegen -*-===//
#ifndef BRAID_TG_FACTS
#define BRAID_TG_FACTS

include "dialects/TG/TGDialect.td"

def TG_Phase : TG_Enum<"Phase", "phase of a training step", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Backward", 1, "backward">,
    I32EnumAttrCase<"Update", 2, "update">]>;

def TG_FactsAttr : TG_Attr<"Facts", "facts"> {
  let summary = "The phase and the units of an op, and the parameters it makes tensors of.";
  let description = [{
    `#tg.facts<forward, unit = "h.0">` is the phase of an op and the unit whose work it does.
    `#tg.facts<backward, unit = "h.0", of = "h.0.attn.w", as = gradient>` says also that it
    makes a tensor of that kind for that parameter.  An op made from several has several, in
    brackets and sorted: `unit = ["h.0", "h.1"]`.  Facts are the metadata of an op's location,
    `loc(fused<#tg.facts<…>>["h.0.mlp"])`: see Facts.h.
  }];
  let parameters = (ins EnumParameter<TG_Phase>:$phase,
                        ArrayRefParameter<"::mlir::StringAttr", "sorted">:$units,
                        ArrayRefParameter<"::mlir::StringAttr", "sorted">:$of,
                        ArrayRefParameter<"::braid::tg::TensorKind", "sorted">:$as);
  let hasCustomAssemblyFormat = 1;
}

#endif // BRAID_TG_FACTS
