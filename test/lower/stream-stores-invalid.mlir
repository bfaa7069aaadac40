// RUN: braid-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'exec.streamed' has out 0, which is operand 0, too, and therefore in the caches; leave it out}}
exec.kernel_def @double space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [0] attributes {exec.streamed = array<i64: 0>} {
^bb0(%a: tensor<1xf32>):
  exec.yield %a : tensor<1xf32>
}

// -----

// expected-error@+1 {{'exec.streamed' has 1, but must list numbers of the 1 outs in ascending order}}
exec.kernel_def @double space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [-1] attributes {exec.streamed = array<i64: 1>} {
^bb0(%a: tensor<1xf32>):
  exec.yield %a : tensor<1xf32>
}

// -----

// expected-error@+1 {{'exec.streamed' belongs on an exec.kernel_def, as array<i64>}}
module attributes {exec.streamed = array<i64: 0>} {
}
