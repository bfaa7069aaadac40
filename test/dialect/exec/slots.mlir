// Slots, and tensors that lie in them.
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s

// CHECK: exec.slots @saved.0 3
exec.slots @saved.0 3
// CHECK: exec.slots @saved.1 3 at 4096 bytes 1024
exec.slots @saved.1 3 at 4096 bytes 1024
// What is of a microbatch may be of any category.
// CHECK: exec.tensor @rstd at 4096 bytes 64 slots @saved.1 category activations : tensor<16xf32> = #tg.state<"rstd", #tg.init<zeros>, kind = saved>
exec.tensor @rstd at 4096 bytes 64 slots @saved.1 category activations : tensor<16xf32> = #tg.state<"rstd", #tg.init<zeros>, kind = saved>
// CHECK: exec.tensor @x at 4160 bytes 64 slots @saved.1 category activations : tensor<16xf32> = #tg.state<"x", #tg.init<zeros>, kind = message>
exec.tensor @x at 4160 bytes 64 slots @saved.1 category activations : tensor<16xf32> = #tg.state<"x", #tg.init<zeros>, kind = message>

// CHECK: func.func @f(%arg0: tensor<16xf32> {exec.slots = @saved.0})
func.func @f(%x: tensor<16xf32> {exec.slots = @saved.0}) {
  return
}
