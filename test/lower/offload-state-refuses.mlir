// What cannot be honoured is refused.
// RUN: braid-opt %s --exec-offload-state --verify-diagnostics --split-input-file

// expected-error @below {{no program has state of an optimizer (moments, or f32 masters of bf16 parameters) that could be kept in the host's memory}}
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  func.func @train(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<4xf32> {tg.updates = "w"}) {
    return %w : tensor<4xf32>
  }
}

// -----

// expected-error @below {{the cpu target has only the memory of the host, so no state can be offloaded to it}}
module {
  func.func @train(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                   %m: tensor<4xf32> {tg.state = #tg.state<"w.m", #tg.init<ones>, of = "w", kind = moment>}) -> (tensor<4xf32> {tg.updates = "w"}) {
    return %w : tensor<4xf32>
  }
}
