// Inputs and results of a local function are logical: ranks get their parts, and
// the parts are put together again.  These functions return what they get.
//
// RUN: split-file %s %t
// RUN: braid-interp %t/same.mlir --init | FileCheck %t/same.mlir
// RUN: braid-interp %t/same.mlir --init --per-rank | FileCheck %t/same.mlir --check-prefix=RANKS
// RUN: braid-interp %t/kinds.mlir --set x=3 --set n=5 | FileCheck %t/kinds.mlir
// RUN: braid-interp %t/kinds.mlir --outputs=%t/kinds.safetensors
// RUN: braid-interp %t/plain.mlir --expect=%t/kinds.safetensors --rtol=1e-6 | FileCheck %t/plain.mlir
// RUN: braid-interp %t/identity.mlir | FileCheck %t/identity.mlir

//--- same.mlir
// The ranks of a partial value hold 2 and -1 times the value.
// CHECK: updates w: tensor<3xf32> = [4, 4, 4]
// CHECK-NEXT: result1: tensor<3xf32> = [4, 4, 4]
// RANKS: rank 0: updates w: tensor<2xf32> = [4, 4]
// RANKS-NEXT: rank 0: result1: tensor<3xf32> = [8, 8, 8]
// RANKS-NEXT: rank 1: updates w: tensor<2xf32> = [4, 0]
// RANKS-NEXT: rank 1: result1: tensor<3xf32> = [-4, -4, -4]
// RANKS-NEXT: updates w: tensor<3xf32> = [4, 4, 4]
comm.mesh @mesh [r = 2]
func.func @f(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<constant, 4.0>>, comm.sharding = #comm.sharding<@mesh, {}, flat {r}>, comm.global = tensor<3xf32>},
             %p: tensor<3xf32> {tg.param = #tg.param<"p", #tg.init<constant, 4.0>>, comm.sharding = #comm.sharding<@mesh, {}, partial sum {r}>})
    -> (tensor<2xf32> {tg.updates = "w", comm.sharding = #comm.sharding<@mesh, {}, flat {r}>, comm.global = tensor<3xf32>},
        tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {r}>})
    attributes {comm.program = #comm.program<@mesh>} {
  return %w, %p : tensor<2xf32>, tensor<3xf32>
}

//--- kinds.mlir
// All kinds of partial values over three ranks, and all kinds of sharding.
// CHECK: sum: tensor<5xf32> = [3, 3, 3, 3, 3]
// CHECK-NEXT: mean: tensor<5xf32> = [3, 3, 3, 3, 3]
// CHECK-NEXT: max: tensor<5xf32> = [3, 3, 3, 3, 3]
// CHECK-NEXT: min: tensor<5xf32> = [3, 3, 3, 3, 3]
// CHECK-NEXT: ints: tensor<2xi32> = [5, 5]
comm.mesh @mesh [a = 2, b = 3]
func.func @f(%0: tensor<5xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {}, partial sum {b}>},
             %1: tensor<5xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {}, partial mean {b}>},
             %2: tensor<5xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {}, partial max {b, a}>},
             %3: tensor<5xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {}, partial min {b}>},
             %4: tensor<1xi32> {tg.input = "n", comm.sharding = #comm.sharding<@mesh, {a}, partial sum {b}>, comm.global = tensor<2xi32>})
    -> (tensor<5xf32> {tg.output = "sum", comm.sharding = #comm.sharding<@mesh, {}, partial sum {b}>},
        tensor<5xf32> {tg.output = "mean", comm.sharding = #comm.sharding<@mesh, {}, partial mean {b}>},
        tensor<5xf32> {tg.output = "max", comm.sharding = #comm.sharding<@mesh, {}, partial max {b, a}>},
        tensor<5xf32> {tg.output = "min", comm.sharding = #comm.sharding<@mesh, {}, partial min {b}>},
        tensor<1xi32> {tg.output = "ints", comm.sharding = #comm.sharding<@mesh, {a}, partial sum {b}>, comm.global = tensor<2xi32>})
    attributes {comm.program = #comm.program<@mesh>} {
  return %0, %1, %2, %3, %4 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<1xi32>
}

//--- plain.mlir
// CHECK: 5 results agree
func.func @f(%x: tensor<5xf32> {tg.input = "x"}, %n: tensor<2xi32> {tg.input = "n"})
    -> (tensor<5xf32> {tg.output = "sum"}, tensor<5xf32> {tg.output = "mean"}, tensor<5xf32> {tg.output = "max"},
        tensor<5xf32> {tg.output = "min"}, tensor<2xi32> {tg.output = "ints"}) {
  return %x, %x, %x, %x, %n : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<2xi32>
}

//--- identity.mlir
// In a global function shardings say nothing about values.
// CHECK: result0: tensor<2xf32> = [1, 2]
comm.mesh @mesh [r = 2]
func.func @f() -> tensor<2xf32> {
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = comm.constrain %x <@mesh, {r}> : tensor<2xf32>
  %z = comm.reshard %y <@mesh, {}> : tensor<2xf32>
  return %z : tensor<2xf32>
}
