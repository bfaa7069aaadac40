// What cannot be honoured is refused.
// RUN: braid-opt %s --exec-offload-activations --verify-diagnostics --split-input-file

// expected-error @below {{no program keeps an activation for backward that could wait in the host's memory}}
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  func.func @train(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<4xf32> {tg.updates = "w"}) {
    return %w : tensor<4xf32>
  }
}

// -----

// expected-error @below {{the cpu target has only the memory of the host, so no activation can be offloaded to it}}
module {
  func.func @train(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<4xf32> {tg.updates = "w"}) {
    return %w : tensor<4xf32>
  }
}
