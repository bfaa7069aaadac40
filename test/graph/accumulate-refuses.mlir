// RUN: braid-opt %s --tg-accumulate --split-input-file --verify-diagnostics

// expected-error @below {{no function 'train' to accumulate gradients of}}
module {}

// -----

// expected-error @below {{'train' has no result with tg.grad_of; run tg-differentiate before tg-accumulate}}
func.func @train(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<3xf32> {tg.role = #tg.role<loss>}) {
  return %w : tensor<3xf32>
}

// -----

// expected-error @below {{'train' updates "w" already; run tg-accumulate before tg-apply-optimizer}}
func.func @train(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<3xf32> {tg.updates = "w"}) {
  return %w : tensor<3xf32>
}

// -----

// expected-error @below {{result #0 is the gradient of "x", which is not a parameter; only gradients of parameters are accumulated over microbatches}}
func.func @train(%x: tensor<3xf32> {tg.input = "x", tg.grad}) -> (tensor<3xf32> {tg.grad_of = "x"}) {
  return %x : tensor<3xf32>
}

// -----

// expected-error @below {{the module already has a function 'accumulate'; rename it}}
func.func @train(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<3xf32> {tg.grad_of = "w"}) {
  return %w : tensor<3xf32>
}
func.func private @accumulate()
