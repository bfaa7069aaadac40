// Programs of several functions, which share the ranks of a mesh.
//
// RUN: split-file %s %t
// RUN: braid-interp %t/pipeline.mlir --set x=3 | FileCheck %t/pipeline.mlir
// RUN: braid-interp %t/pipeline.mlir --function=last --set x=3 | FileCheck %t/pipeline.mlir
// RUN: braid-interp %t/pipeline.mlir --set x=3 --per-rank | FileCheck %t/pipeline.mlir --check-prefix=RANKS
// RUN: braid-interp %t/pipeline.mlir --compare --pipeline=exec-form-kernels,exec-plan-memory | FileCheck %t/pipeline.mlir --check-prefix=MEMORY
// RUN: braid-interp %t/rooted.mlir | FileCheck %t/rooted.mlir
// RUN: braid-interp %t/exchange.mlir --set v=1 --set w=10 | FileCheck %t/exchange.mlir
// RUN: braid-interp %t/exchange.mlir --compare --pipeline=exec-form-kernels,exec-plan-memory | FileCheck %t/exchange.mlir --check-prefix=MEMORY

//--- pipeline.mlir
// Two stages of two ranks; the second gives the result back to the first.
// CHECK-NOT: @
// CHECK: twice: tensor<4xf32> = [6, 6, 6, 6]
// CHECK-NEXT: y: tensor<4xf32> = [7, 7, 7, 7]
// MEMORY: 'first': 2 results agree
// RANKS: rank 0: twice: tensor<2xf32> = [6, 6]
// RANKS-NEXT: rank 1: twice: tensor<2xf32> = [6, 6]
// RANKS-NEXT: rank 2: y: tensor<2xf32> = [7, 7]
// RANKS-NEXT: rank 3: y: tensor<2xf32> = [7, 7]
comm.mesh @mesh [pp = 2, dp = 2]
func.func @first(%x: tensor<2xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<4xf32>})
    -> (tensor<2xf32> {tg.output = "twice", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<4xf32>})
    attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  %y = arith.addf %x, %x : tensor<2xf32>
  comm.send %y to 1 over @mesh {pp} : (tensor<2xf32>) -> ()
  %z = comm.recv from 1 over @mesh {pp} : () -> tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func @last() -> (tensor<2xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<4xf32>})
    attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  %x = comm.recv from 0 over @mesh {pp} : () -> tensor<2xf32>
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %y = arith.addf %x, %one : tensor<2xf32>
  comm.send %x to 0 over @mesh {pp} : (tensor<2xf32>) -> ()
  return %y : tensor<2xf32>
}

//--- exchange.mlir
// Parameters of one function are on its ranks only.  Send and recv are both under
// way; each rank adds what the other has.
// CHECK: updates v: tensor<2xf32> = [11, 11]
// CHECK-NEXT: updates w: tensor<2xf32> = [11, 11]
// MEMORY: 2 results agree
comm.mesh @mesh [r = 2]
func.func @zero(%v: tensor<2xf32> {tg.param = #tg.param<"v", #tg.init<ones>>}) -> (tensor<2xf32> {tg.updates = "v"})
    attributes {comm.program = #comm.program<@mesh, r = [0]>} {
  %t0 = comm.start {
    comm.send %v to 1 over @mesh {r} : (tensor<2xf32>) -> ()
  } : !comm.ticket<>
  %t1 = comm.start {
    %r = comm.recv from 1 over @mesh {r} : () -> tensor<2xf32>
  } : !comm.ticket<tensor<2xf32>>
  %other = comm.wait %t1 : !comm.ticket<tensor<2xf32>> -> tensor<2xf32>
  comm.wait %t0 : !comm.ticket<>
  %y = arith.addf %v, %other : tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @one(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<2xf32> {tg.updates = "w"})
    attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  %other = comm.recv from 0 over @mesh {r} : () -> tensor<2xf32>
  comm.send %w to 0 over @mesh {r} : (tensor<2xf32>) -> ()
  %y = arith.addf %w, %other : tensor<2xf32>
  return %y : tensor<2xf32>
}

//--- rooted.mlir
// Only the root has results of reduce and gather, and operands of broadcast and
// scatter.  The ranks hold 0, 1, 2.
// CHECK-DAG: sum: tensor<1xi32> = [3]
// CHECK-DAG: all: tensor<3xi32> = [0, 1, 2]
// CHECK-DAG: root: tensor<1xi32> = [3]
// CHECK-DAG: blocks: tensor<3xi32> = [0, 1, 2]
comm.mesh @mesh [r = 3]
func.func @root() -> (tensor<1xi32> {tg.output = "sum"}, tensor<3xi32> {tg.output = "all"}, tensor<1xi32> {tg.output = "root"},
                      tensor<1xi32> {tg.output = "blocks", comm.sharding = #comm.sharding<@mesh, {r}>, comm.global = tensor<3xi32>})
    attributes {comm.program = #comm.program<@mesh, r = [1]>} {
  %i = comm.axis_index over @mesh {r} : tensor<i32>
  %x = tg.reshape %i : tensor<i32> -> tensor<1xi32>
  %sum = comm.reduce sum %x root 1 over @mesh {r} : (tensor<1xi32>) -> tensor<1xi32>
  %all = comm.gather %x dims [0] root 1 over @mesh {r} : (tensor<1xi32>) -> tensor<3xi32>
  %root = comm.broadcast %sum root 1 over @mesh {r} : (tensor<1xi32>) -> tensor<1xi32>
  %block = comm.scatter %all dims [0] root 1 over @mesh {r} : (tensor<3xi32>) -> tensor<1xi32>
  return %sum, %all, %root, %block : tensor<1xi32>, tensor<3xi32>, tensor<1xi32>, tensor<1xi32>
}
func.func @others() -> (tensor<1xi32> {tg.output = "root"},
                        tensor<1xi32> {tg.output = "blocks", comm.sharding = #comm.sharding<@mesh, {r}>, comm.global = tensor<3xi32>})
    attributes {comm.program = #comm.program<@mesh, r = [0, 2]>} {
  %i = comm.axis_index over @mesh {r} : tensor<i32>
  %x = tg.reshape %i : tensor<i32> -> tensor<1xi32>
  comm.reduce sum %x root 1 over @mesh {r} : (tensor<1xi32>) -> ()
  comm.gather %x dims [0] root 1 over @mesh {r} : (tensor<1xi32>) -> ()
  %root = comm.broadcast root 1 over @mesh {r} : () -> tensor<1xi32>
  %block = comm.scatter dims [0] root 1 over @mesh {r} : () -> tensor<1xi32>
  return %root, %block : tensor<1xi32>, tensor<1xi32>
}
