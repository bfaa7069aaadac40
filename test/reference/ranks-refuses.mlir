// What local programs are refused for, beside deadlock: ranks that disagree on a
// collective, replicas that differ, functions that do not make a program.
//
// RUN: split-file %s %t
// RUN: not braid-interp %t/global.mlir --per-rank --compare 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not braid-interp %t/reduction.mlir 2>&1 | FileCheck %t/reduction.mlir
// RUN: not braid-interp %t/root.mlir 2>&1 | FileCheck %t/root.mlir
// RUN: not braid-interp %t/sizes.mlir 2>&1 | FileCheck %t/sizes.mlir
// RUN: not braid-interp %t/sent.mlir 2>&1 | FileCheck %t/sent.mlir
// RUN: not braid-interp %t/replicas.mlir 2>&1 | FileCheck %t/replicas.mlir
// RUN: not braid-interp %t/missing.mlir 2>&1 | FileCheck %t/missing.mlir
// RUN: not braid-interp %t/uncovered.mlir 2>&1 | FileCheck %t/uncovered.mlir
// RUN: not braid-interp %t/twice.mlir 2>&1 | FileCheck %t/twice.mlir
// RUN: not braid-interp %t/global.mlir 2>&1 | FileCheck %t/global.mlir
// RUN: not braid-interp %t/place.mlir 2>&1 | FileCheck %t/place.mlir
// RUN: not braid-interp %t/part.mlir 2>&1 | FileCheck %t/part.mlir
// RUN: not braid-interp %t/many.mlir 2>&1 | FileCheck %t/many.mlir

// OPTION: --per-rank and --compare exclude each other: leave one of them out

//--- reduction.mlir
// CHECK: error: rank 0 and rank 1 disagree: one takes the sum, the other the max
// CHECK: note: rank 1 is here
comm.mesh @mesh [r = 2]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %y = comm.all_reduce sum %x over @mesh {r} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %y = comm.all_reduce max %x over @mesh {r} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

//--- root.mlir
// CHECK: error: rank 0 and rank 1 disagree: 'root' is 0 : i64 and 1 : i64
comm.mesh @mesh [r = 2]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %y = comm.broadcast %x root 0 over @mesh {r} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %y = comm.broadcast %x root 1 over @mesh {r} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

//--- sizes.mlir
// CHECK: error: rank 0 and rank 1 disagree: one sends (tensor<2xf32>), the other (tensor<3xf32>)
comm.mesh @mesh [r = 2]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %y = comm.all_reduce sum %x over @mesh {r} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  %x = arith.constant dense<1.0> : tensor<3xf32>
  %y = comm.all_reduce sum %x over @mesh {r} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

//--- sent.mlir
// CHECK: error: rank 0 and rank 1 disagree: one sends (tensor<2xf32>), the other receives (tensor<2xi32>)
comm.mesh @mesh [r = 2]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  comm.send %x to 1 over @mesh {r} : (tensor<2xf32>) -> ()
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  %x = comm.recv from 0 over @mesh {r} : () -> tensor<2xi32>
  return
}

//--- replicas.mlir
// Ranks 0 and 2 hold the first half of the result.
// CHECK: error: result 0 'y' differs between rank 0 and rank 2, which hold the same part: element [1] is 1 and 2
comm.mesh @mesh [a = 2, b = 2]
func.func @f() -> (tensor<2xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {b}>, comm.global = tensor<4xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %all = arith.constant dense<[[1.0, 1.0], [1.0, 2.0]]> : tensor<2x2xf32>
  %own = comm.slice %all dim 0 over @mesh {a} : tensor<2x2xf32> -> tensor<1x2xf32>
  %y = tg.reshape %own : tensor<1x2xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

//--- missing.mlir
// CHECK: error: no rank returns element [2] of result 0
comm.mesh @mesh [r = 2]
func.func @zero() -> (tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {r}>, comm.global = tensor<4xf32>})
    attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  return %x : tensor<2xf32>
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  return
}

//--- uncovered.mlir
// CHECK: error: no function of the program is run by rank 2
comm.mesh @mesh [r = 3]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  return
}

//--- twice.mlir
// CHECK: error: rank 1 runs this function and another
// CHECK: note: the other is here
comm.mesh @mesh [r = 2]
func.func @zero() attributes {comm.program = #comm.program<@mesh, r = [0, 1]>} {
  return
}
func.func @one() attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  return
}

//--- global.mlir
// CHECK: error: 'comm.all_reduce' is in a function without 'comm.program', which has no ranks
comm.mesh @mesh [r = 2]
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = comm.all_reduce sum %x over @mesh {r} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

//--- place.mlir
// CHECK: error: 'comm.axis_index' is in a function without 'comm.program', which has no ranks
comm.mesh @mesh [r = 2]
func.func @f() -> tensor<i32> {
  %i = comm.axis_index over @mesh {r} : tensor<i32>
  return %i : tensor<i32>
}

//--- part.mlir
// CHECK: error: {{.*}}tensor<4xf32>
comm.mesh @mesh [r = 2]
func.func @f(%x: tensor<2xf32> {comm.global = tensor<4xf32>}) attributes {comm.program = #comm.program<@mesh>} {
  return
}

//--- many.mlir
// CHECK: error: is the program of 100000 ranks; the interpreter runs up to 4096 in its process, so make the axes of @mesh smaller
comm.mesh @mesh [dp = 4, tp = 25000]
func.func @many(%x: tensor<2xf32> {tg.input = "x"}) -> tensor<2xf32> attributes {comm.program = #comm.program<@mesh>} {
  return %x : tensor<2xf32>
}
