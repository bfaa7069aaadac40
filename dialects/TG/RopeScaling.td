//===- RopeScaling.td - rotations of longer sequences ----------*- tablegen -*-===//
#ifndef BRAID_TG_ROPESCALING
#define BRAID_TG_ROPESCALING

include "dialects/TG/TGDialect.td"

def TG_RopeScalingAttr : TG_Attr<"RopeScaling", "rope_scaling"> {
  let summary = "Scaling of rotary frequencies for sequences longer than in the first training";
  let description = [{
    | scaling | a frequency f, of which a turn takes 2 pi / f positions, becomes |
    |---|---|
    | `#tg.rope_scaling<linear 8.0>` | f / 8 (Chen et al. 2023) |
    | `#tg.rope_scaling<llama3 8.0 low 1.0 high 4.0 positions 8192>` | f where it turns at least 4 times in 8192 positions, f / 8 where it turns once at most; between, a mean of both whose weight is linear in the turns (Llama 3.1) |

    Ops write only the words of the scaling: `tg.rope %x theta 1.0e4 linear 8.0`.
  }];
  let parameters = (ins APFloatParameter<"divisor of low frequencies">:$factor,
                        APFloatParameter<"most turns of frequencies that are divided by the whole factor">:$low,
                        APFloatParameter<"fewest turns of frequencies that do not change">:$high,
                        "int64_t":$positions);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether every frequency is divided.
    bool isLinear() const { return getPositions() == 0; }
  }];
}

#endif // BRAID_TG_ROPESCALING
