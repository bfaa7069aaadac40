// RUN: not braid-opt %s --exec-select-calls=target=tpu 2>&1 | FileCheck %s
// RUN: not braid-opt %s --exec-form-kernels=target=tpu 2>&1 | FileCheck %s
// RUN: not braid-opt %s --exec-select-epilogues=target=tpu 2>&1 | FileCheck %s
// CHECK: error: unknown target 'tpu' (targets: cpu, cuda)
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
