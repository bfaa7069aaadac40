// What exec.target may say: every pass that asks what the target has refuses one that there is not.
// RUN: split-file %s %t
// DEFINE: %{pass} =
// DEFINE: %{refuses} = not braid-opt %t/unknown.mlir %{pass} 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// REDEFINE: %{pass} = --exec-select-calls
// RUN: %{refuses}
// REDEFINE: %{pass} = --exec-select-attention
// RUN: %{refuses}
// REDEFINE: %{pass} = --exec-select-epilogues
// RUN: %{refuses}
// REDEFINE: %{pass} = --exec-select-bias-gradients
// RUN: %{refuses}
// REDEFINE: %{pass} = --exec-select-addends
// RUN: %{refuses}
// REDEFINE: %{pass} = --exec-form-kernels
// RUN: %{refuses}
// REDEFINE: %{pass} = --exec-plan-memory
// RUN: %{refuses}
// REDEFINE: %{pass} = --exec-verify-plan
// RUN: %{refuses}
// REDEFINE: %{pass} = --comm-bucket
// RUN: %{refuses}
// REDEFINE: %{pass} = --comm-overlap
// RUN: %{refuses}
// UNKNOWN: error: unknown target 'tpu' in exec.target (targets: cpu, cuda)

// RUN: not braid-opt %t/old.mlir --exec-form-kernels 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: unknown architecture 'sm_75' in exec.target for target 'cuda'
// RUN: not braid-opt %t/place.mlir 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: error: 'func.func' op 'exec.target' belongs on a module, as #exec.target<"cpu">
// RUN: not braid-opt %t/kind.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: 'builtin.module' op 'exec.target' belongs on a module, as #exec.target<"cpu">

// exec-set-target writes it, with the default architecture where none is given.
// RUN: braid-opt %t/empty.mlir --exec-set-target=name=cuda | FileCheck %s --check-prefix=CUDA
// CUDA: module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">}
// RUN: braid-opt %t/empty.mlir --exec-set-target="name=cuda arch=sm_100a" | FileCheck %s --check-prefix=ARCH
// ARCH: module attributes {exec.target = #exec.target<"cuda", arch = "sm_100a">}
// RUN: not braid-opt %t/empty.mlir --exec-set-target=name=tpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not braid-opt %t/empty.mlir --exec-set-target="name=cpu arch=sm_90" 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: unknown architecture 'sm_90' in exec.target for target 'cpu'

//--- unknown.mlir
module attributes {exec.target = #exec.target<"tpu">} {
  comm.mesh @mesh [dp = 2]
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {comm.program = #comm.program<@mesh>} {
    return %x : tensor<4xf32>
  }
}
//--- old.mlir
module attributes {exec.target = #exec.target<"cuda", arch = "sm_75">} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
//--- place.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.target = #exec.target<"cpu">} {
  return %x : tensor<4xf32>
}
//--- kind.mlir
module attributes {exec.target = "cpu"} {
}
//--- empty.mlir
module {
}
