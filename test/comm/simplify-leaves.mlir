// What is started, what another function takes part in, and functions that are no
// program of ranks stay as they are.
// RUN: split-file %s %t
// RUN: braid-opt %t/started.mlir -o %t/before && braid-opt --comm-simplify %t/started.mlir | diff %t/before -
// RUN: braid-opt %t/stages.mlir -o %t/before && braid-opt --comm-simplify %t/stages.mlir | diff %t/before -
// RUN: braid-opt %t/global.mlir -o %t/before && braid-opt --comm-simplify %t/global.mlir | diff %t/before -
// RUN: braid-opt --comm-simplify %t/stage.mlir | FileCheck %t/stage.mlir

//--- started.mlir
comm.mesh @mesh [one = 1, tp = 4]
func.func @f(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %t = comm.start {
    %r = comm.all_reduce max %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  } : !comm.ticket<tensor<8xf32>>
  %u = comm.start {
    %r = comm.all_reduce max %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  } : !comm.ticket<tensor<8xf32>>
  %v = comm.start {
    %r = comm.all_reduce sum %x over @mesh {one} : (tensor<8xf32>) -> tensor<8xf32>
  } : !comm.ticket<tensor<8xf32>>
  %a = comm.wait %t : !comm.ticket<tensor<8xf32>> -> tensor<8xf32>
  %b = comm.wait %u : !comm.ticket<tensor<8xf32>> -> tensor<8xf32>
  %c = comm.wait %v : !comm.ticket<tensor<8xf32>> -> tensor<8xf32>
  %s = comm.slice %a dim 0 over @mesh {tp} : tensor<8xf32> -> tensor<2xf32>
  return %a, %c, %s : tensor<8xf32>, tensor<8xf32>, tensor<2xf32>
}

//--- stages.mlir
comm.mesh @mesh [pp = 2, tp = 2]
func.func @first(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  %a = comm.all_reduce max %x over @mesh {pp} : (tensor<8xf32>) -> tensor<8xf32>
  %b = comm.all_reduce max %x over @mesh {pp} : (tensor<8xf32>) -> tensor<8xf32>
  return %x : tensor<8xf32>
}
func.func @second(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  %a = comm.all_reduce max %x over @mesh {pp} : (tensor<8xf32>) -> tensor<8xf32>
  %b = comm.all_reduce max %a over @mesh {pp} : (tensor<8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

//--- global.mlir
comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>}) -> tensor<8xf32> {
  %c = arith.constant dense<1.0> : tensor<8xf32>
  %dead = arith.addf %x, %c : tensor<8xf32>
  return %x : tensor<8xf32>
}

// Within a stage every rank of a group runs the same function; what ranks of the
// other stage send is not known here.
//--- stage.mlir
comm.mesh @mesh [pp = 2, tp = 2]
// CHECK-LABEL: func @first
// CHECK: comm.send
// CHECK-NEXT: %[[B:.*]] = comm.reduce_scatter sum %arg0 dims [0] over @mesh {tp}
// CHECK-NEXT: return %[[B]]
func.func @first(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}>}) -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  comm.send %x to 1 over @mesh {pp} : (tensor<8xf32>) -> ()
  %a = comm.all_reduce sum %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %b = comm.slice %a dim 0 over @mesh {tp} : tensor<8xf32> -> tensor<4xf32>
  return %b : tensor<4xf32>
}
// CHECK-LABEL: func @second
// CHECK: %[[R:.*]] = comm.recv
// CHECK: comm.all_reduce sum %[[R]] over @mesh {tp}
func.func @second() -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  %x = comm.recv from 0 over @mesh {pp} : () -> tensor<8xf32>
  %a = comm.all_reduce sum %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  return %a : tensor<8xf32>
}
