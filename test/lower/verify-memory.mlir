// No tensor lives outside a kernel once memory is planned.
// RUN: braid-opt %s --exec-verify-memory --split-input-file --verify-diagnostics

// expected-error @+1 {{is left after memory was planned: it holds a tensor outside a kernel}}
func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
