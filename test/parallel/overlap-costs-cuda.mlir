// A GPU multiplies bf16 faster than f32: 1.4e11 operations, at 635 and at 63 TFLOPS by the tables of lib/Cost.  What
// --compute says holds for both.
// RUN: braid-opt %s --exec-set-target=name=cuda --comm-overlap="annotate-only" | FileCheck %s
// RUN: braid-opt %s --exec-set-target=name=cuda --exec-set-machine=compute=50000,2800 --comm-overlap=annotate-only | FileCheck %s --check-prefix=SAID
// CHECK-LABEL: @narrow
// CHECK-SAME: predicted_s = 2.160580e-04
// SAID-LABEL: @narrow
// SAID-SAME: predicted_s = 0.0027507
comm.mesh @mesh [dp = 4]
func.func @narrow(%x: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> attributes {comm.program = #comm.program<@mesh>} {
  %0 = exec.matmul "mk,kn->mn"(%x, %x) : tensor<4096x4096xbf16>, tensor<4096x4096xbf16> -> tensor<4096x4096xbf16>
  return %0 : tensor<4096x4096xbf16>
}

// CHECK-LABEL: @wide
// CHECK-SAME: predicted_s = 0.002167
// SAID-LABEL: @wide
// SAID-SAME: predicted_s = 0.0027507
func.func @wide(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> attributes {comm.program = #comm.program<@mesh>} {
  %0 = exec.matmul "mk,kn->mn"(%x, %x) : tensor<4096x4096xf32>, tensor<4096x4096xf32> -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}
