// Every op, attribute and type of the dialect, as the manual's examples show them,
// on values and in memory: what is printed parses to the same.
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s

// CHECK: comm.mesh @mesh [dp = 4, tp = 4, pp = 2]
comm.mesh @mesh [dp = 4, tp = 4, pp = 2]
// CHECK: comm.mesh @small [dp = 2, tp = 4]
comm.mesh @small [dp = 2, tp = 4]

//===----------------------------------------------------------------------===//
// Global functions
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @annotated
// CHECK-SAME: tensor<8x16x32xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp, ?} {?}, priority 1>}
// CHECK-SAME: tensor<9x5xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp, tp}>}
// CHECK-SAME: tensor<f32> {comm.sharding = #comm.sharding<@mesh>}
// CHECK-SAME: -> (tensor<8x16x32xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {} {}, partial mean {tp}>}, tensor<16x32xf32>)
func.func @annotated(%x: tensor<8x16x32xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp, ?} {?}, priority 1>},
                     %w: tensor<9x5xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp, tp}>},
                     %s: tensor<f32> {comm.sharding = #comm.sharding<@mesh>},
                     %m: tensor<16x32xf32>)
    -> (tensor<8x16x32xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {} {}, partial mean {tp}>}, tensor<16x32xf32>) {
  // CHECK: comm.constrain %{{.*}} <@mesh, {dp} {tp} {}> : tensor<8x16x32xf32>
  %y = comm.constrain %x <@mesh, {dp} {tp} {}> : tensor<8x16x32xf32>
  // CHECK: comm.constrain %{{.*}} <@mesh, {dp} {tp} {}> yielding : tensor<8x16x32xf32>
  %dy = comm.constrain %x <@mesh, {dp} {tp} {}> yielding : tensor<8x16x32xf32>
  // CHECK: comm.reshard %{{.*}} <@mesh, {} {tp}> : tensor<16x32xf32>
  %z = comm.reshard %m <@mesh, {} {tp}> : tensor<16x32xf32>
  // CHECK: math.exp %{{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp, tp} {}, partial max {pp}>]}
  %n = math.exp %z {comm.shardings = [#comm.sharding<@mesh, {dp, tp} {}, partial max {pp}>]} : tensor<16x32xf32>
  return %y, %n : tensor<8x16x32xf32>, tensor<16x32xf32>
}

//===----------------------------------------------------------------------===//
// Local functions
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @parts
// CHECK-SAME: tensor<2x16xf32> {comm.global = tensor<8x16xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>}
// CHECK-SAME: -> (tensor<8xf32> {comm.global = tensor<8x16xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp, dp}>})
// CHECK-SAME: attributes {comm.program = #comm.program<@mesh>}
func.func @parts(%x: tensor<2x16xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x16xf32>},
                 %r: tensor<8xf32>)
    -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp, dp}>, comm.global = tensor<8x16xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @places
func.func @places(%x: tensor<8x4xf32>, %x9: tensor<3x3xf32>, %own: tensor<4xf32>, %other: tensor<4xf32>, %c: tensor<5xf32>) {
  // CHECK: comm.axis_index over @mesh {tp} : tensor<i32>
  %i = comm.axis_index over @mesh {tp} : tensor<i32>
  // CHECK: comm.slice %{{.*}} dim 0 over @mesh {tp} : tensor<8x4xf32> -> tensor<2x4xf32>
  %b = comm.slice %x dim 0 over @mesh {tp} : tensor<8x4xf32> -> tensor<2x4xf32>
  // CHECK: comm.slice %{{.*}} dim 0 shift 1 over @mesh {tp} : tensor<8x4xf32> -> tensor<2x4xf32>
  %next = comm.slice %x dim 0 shift 1 over @mesh {tp} : tensor<8x4xf32> -> tensor<2x4xf32>
  // CHECK: comm.slice %{{.*}} dim 0 shift -1 over @mesh {tp} : tensor<8x4xf32> -> tensor<2x4xf32>
  %previous = comm.slice %x dim 0 shift -1 over @mesh {tp} : tensor<8x4xf32> -> tensor<2x4xf32>
  // CHECK: comm.slice %{{.*}} dim flat over @mesh {tp} : tensor<3x3xf32> -> tensor<3xf32>
  %f = comm.slice %x9 dim flat over @mesh {tp} : tensor<3x3xf32> -> tensor<3xf32>
  // CHECK: comm.assemble %{{.*}}, %{{.*}} dim 0 shifts [0, 1] over @mesh {pp} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %whole = comm.assemble %own, %other dim 0 shifts [0, 1] over @mesh {pp}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  // CHECK: comm.assemble %{{.*}}, %{{.*}} dim flat shifts [0, -1] over @mesh {pp} : (tensor<5xf32>, tensor<5xf32>) -> tensor<3x3xf32>
  %flat = comm.assemble %c, %c dim flat shifts [0, -1] over @mesh {pp} : (tensor<5xf32>, tensor<5xf32>) -> tensor<3x3xf32>
  // CHECK: comm.slice %{{.*}} dim 1 over @mesh {} : tensor<8x4xf32> -> tensor<8x4xf32>
  %same = comm.slice %x dim 1 over @mesh {} : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @collectives
func.func @collectives(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<8xf32>, %w: tensor<2x4xf32>, %s: tensor<3xf32>,
                       %y: tensor<8x4xf32>, %y9: tensor<3x3xf32>, %z: tensor<4x8xf32>, %mask: tensor<4xi1>)
    attributes {comm.program = #comm.program<@mesh>} {
  // CHECK: comm.all_reduce sum %{{.*}} over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %{{.*}}:2 = comm.all_reduce mean %{{.*}}, %{{.*}} over @mesh {dp, tp} : (tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
  %a1, %b1 = comm.all_reduce mean %a, %b over @mesh {dp, tp}
      : (tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
  // CHECK: comm.all_reduce max %{{.*}} over @mesh {tp} : (tensor<4xi1>) -> tensor<4xi1>
  %1 = comm.all_reduce max %mask over @mesh {tp} : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK: comm.all_gather %{{.*}} dims [0] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  %2 = comm.all_gather %w dims [0] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  // CHECK: comm.all_gather %{{.*}} dims [flat] over @mesh {dp} : (tensor<3xf32>) -> tensor<3x3xf32>
  %3 = comm.all_gather %s dims [flat] over @mesh {dp} : (tensor<3xf32>) -> tensor<3x3xf32>
  // CHECK: comm.all_gather %{{.*}}, %{{.*}} dims [1, flat] over @mesh {dp} : (tensor<2x4xf32>, tensor<3xf32>) -> (tensor<2x16xf32>, tensor<3x3xf32>)
  %4:2 = comm.all_gather %w, %s dims [1, flat] over @mesh {dp}
      : (tensor<2x4xf32>, tensor<3xf32>) -> (tensor<2x16xf32>, tensor<3x3xf32>)
  // CHECK: comm.reduce_scatter sum %{{.*}} dims [0] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %5 = comm.reduce_scatter sum %y dims [0] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  // CHECK: comm.reduce_scatter min %{{.*}} dims [flat] over @mesh {dp} : (tensor<3x3xf32>) -> tensor<3xf32>
  %6 = comm.reduce_scatter min %y9 dims [flat] over @mesh {dp} : (tensor<3x3xf32>) -> tensor<3xf32>
  // CHECK: comm.all_to_all %{{.*}} split [1] concat [0] over @mesh {tp} : (tensor<4x8xf32>) -> tensor<16x2xf32>
  %7 = comm.all_to_all %z split [1] concat [0] over @mesh {tp} : (tensor<4x8xf32>) -> tensor<16x2xf32>
  // CHECK: comm.all_to_all %{{.*}} split [0] concat [0] over @mesh {tp} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = comm.all_to_all %z split [0] concat [0] over @mesh {tp} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: comm.broadcast %{{.*}} root 0 over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %9 = comm.broadcast %x root 0 over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: comm.scatter %{{.*}} dims [0] root 0 over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %10 = comm.scatter %y dims [0] root 0 over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  // CHECK: comm.permute %{{.*}} pairs [0 -> 1, 1 -> 0] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
  %11 = comm.permute %x pairs [0 -> 1, 1 -> 0] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: comm.permute %{{.*}} pairs [] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
  %12 = comm.permute %x pairs [] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: comm.barrier over @mesh {dp} : () -> ()
  comm.barrier over @mesh {dp} : () -> ()
  return
}

// CHECK-LABEL: func.func @tickets
func.func @tickets(%w: tensor<2x4xf32>) -> tensor<8x4xf32> attributes {comm.program = #comm.program<@mesh>} {
  // CHECK: %[[T:.*]] = comm.start {
  // CHECK:   comm.all_gather
  // CHECK: } : !comm.ticket<tensor<8x4xf32>>
  %t = comm.start {
    %g = comm.all_gather %w dims [0] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  } : !comm.ticket<tensor<8x4xf32>>
  // CHECK: comm.wait %[[T]] : !comm.ticket<tensor<8x4xf32>> -> tensor<8x4xf32>
  %full = comm.wait %t : !comm.ticket<tensor<8x4xf32>> -> tensor<8x4xf32>
  // CHECK: %[[B:.*]] = comm.start {
  // CHECK: } : !comm.ticket<>
  %b = comm.start {
    comm.barrier over @mesh {dp} : () -> ()
  } : !comm.ticket<>
  // CHECK: comm.wait %[[B]] : !comm.ticket<>
  comm.wait %b : !comm.ticket<>
  return %full : tensor<8x4xf32>
}

//===----------------------------------------------------------------------===//
// One program of two functions: what the root has
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @first
// CHECK-SAME: attributes {comm.program = #comm.program<@line, dp = [0]>}
func.func @first(%x: tensor<4xf32>, %b: tensor<2x4xf32>, %w: tensor<8x4xf32>)
    attributes {comm.program = #comm.program<@line, dp = [0]>} {
  // CHECK: comm.broadcast %{{.*}} root 0 over @line {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = comm.broadcast %x root 0 over @line {dp} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: comm.reduce sum %{{.*}} root 0 over @line {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = comm.reduce sum %x root 0 over @line {dp} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: comm.gather %{{.*}} dims [0] root 0 over @line {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  %2 = comm.gather %b dims [0] root 0 over @line {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  // CHECK: comm.scatter %{{.*}} dims [0] root 0 over @line {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %3 = comm.scatter %w dims [0] root 0 over @line {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  // CHECK: comm.send %{{.*}} to 1 over @line {dp} : (tensor<4xf32>) -> ()
  comm.send %x to 1 over @line {dp} : (tensor<4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @others
// CHECK-SAME: attributes {comm.program = #comm.program<@line, dp = [1, 2, 3]>}
func.func @others(%x: tensor<4xf32>, %b: tensor<2x4xf32>) attributes {comm.program = #comm.program<@line, dp = [1, 2, 3]>} {
  // CHECK: comm.broadcast root 0 over @line {dp} : () -> tensor<4xf32>
  %0 = comm.broadcast root 0 over @line {dp} : () -> tensor<4xf32>
  // CHECK: comm.reduce sum %{{.*}} root 0 over @line {dp} : (tensor<4xf32>) -> ()
  comm.reduce sum %x root 0 over @line {dp} : (tensor<4xf32>) -> ()
  // CHECK: comm.gather %{{.*}} dims [0] root 0 over @line {dp} : (tensor<2x4xf32>) -> ()
  comm.gather %b dims [0] root 0 over @line {dp} : (tensor<2x4xf32>) -> ()
  // CHECK: comm.scatter dims [0] root 0 over @line {dp} : () -> tensor<2x4xf32>
  %1 = comm.scatter dims [0] root 0 over @line {dp} : () -> tensor<2x4xf32>
  // CHECK: comm.recv from 0 over @line {dp} : () -> tensor<4xf32>
  %2 = comm.recv from 0 over @line {dp} : () -> tensor<4xf32>
  return
}
comm.mesh @line [dp = 4]

//===----------------------------------------------------------------------===//
// In memory
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @memory
func.func @memory(%w: !exec.ref<2x4xf32, [4, 1]>, %v: !exec.ref<8x4xf32, [4, 1]>, %x: !exec.ref<4xf32, [1]>,
                  %s: !exec.ref<3xf32, [1]>, %f: !exec.ref<3x3xf32, [3, 1]>) attributes {comm.program = #comm.program<@mesh>} {
  // CHECK: comm.all_reduce sum %{{.*}} outs(%{{.*}} : !exec.ref<4xf32, [1]>) over @mesh {dp} : (!exec.ref<4xf32, [1]>) -> ()
  comm.all_reduce sum %x outs(%x : !exec.ref<4xf32, [1]>) over @mesh {dp} : (!exec.ref<4xf32, [1]>) -> ()
  // CHECK: comm.all_gather %{{.*}}, %{{.*}} outs(%{{.*}}, %{{.*}} : !exec.ref<8x4xf32, [4, 1]>, !exec.ref<3x3xf32, [3, 1]>) dims [0, flat]
  comm.all_gather %w, %s outs(%v, %f : !exec.ref<8x4xf32, [4, 1]>, !exec.ref<3x3xf32, [3, 1]>) dims [0, flat]
      over @mesh {dp} : (!exec.ref<2x4xf32, [4, 1]>, !exec.ref<3xf32, [1]>) -> ()
  // CHECK: comm.reduce_scatter max %{{.*}} outs(%{{.*}} : !exec.ref<2x4xf32, [4, 1]>) dims [0]
  comm.reduce_scatter max %v outs(%w : !exec.ref<2x4xf32, [4, 1]>) dims [0] over @mesh {dp} : (!exec.ref<8x4xf32, [4, 1]>) -> ()
  // CHECK: comm.all_to_all %{{.*}} outs(%{{.*}} : !exec.ref<8x4xf32, [4, 1]>) split [0] concat [0]
  comm.all_to_all %v outs(%v : !exec.ref<8x4xf32, [4, 1]>) split [0] concat [0] over @mesh {dp} : (!exec.ref<8x4xf32, [4, 1]>) -> ()
  // CHECK: comm.broadcast %{{.*}} outs(%{{.*}} : !exec.ref<4xf32, [1]>) root 1
  comm.broadcast %x outs(%x : !exec.ref<4xf32, [1]>) root 1 over @mesh {dp} : (!exec.ref<4xf32, [1]>) -> ()
  // CHECK: comm.scatter %{{.*}} outs(%{{.*}} : !exec.ref<2x4xf32, [4, 1]>) dims [0] root 3
  comm.scatter %v outs(%w : !exec.ref<2x4xf32, [4, 1]>) dims [0] root 3 over @mesh {dp} : (!exec.ref<8x4xf32, [4, 1]>) -> ()
  // CHECK: comm.permute %{{.*}} outs(%{{.*}} : !exec.ref<4xf32, [1]>) pairs [0 -> 1]
  comm.permute %x outs(%x : !exec.ref<4xf32, [1]>) pairs [0 -> 1] over @mesh {dp} : (!exec.ref<4xf32, [1]>) -> ()
  // CHECK: comm.start {
  // CHECK: } : !comm.ticket<>
  %t = comm.start {
    comm.all_reduce sum %x outs(%x : !exec.ref<4xf32, [1]>) over @mesh {dp} : (!exec.ref<4xf32, [1]>) -> ()
  } : !comm.ticket<>
  // CHECK: comm.wait %{{.*}} : !comm.ticket<>
  comm.wait %t : !comm.ticket<>
  return
}

// CHECK-LABEL: func.func @memory_of_root
func.func @memory_of_root(%w: !exec.ref<2x4xf32, [4, 1]>, %v: !exec.ref<8x4xf32, [4, 1]>, %x: !exec.ref<4xf32, [1]>)
    attributes {comm.program = #comm.program<@line, dp = [0]>} {
  // CHECK: comm.reduce sum %{{.*}} outs(%{{.*}} : !exec.ref<4xf32, [1]>) root 0
  comm.reduce sum %x outs(%x : !exec.ref<4xf32, [1]>) root 0 over @line {dp} : (!exec.ref<4xf32, [1]>) -> ()
  // CHECK: comm.gather %{{.*}} outs(%{{.*}} : !exec.ref<8x4xf32, [4, 1]>) dims [0] root 0
  comm.gather %w outs(%v : !exec.ref<8x4xf32, [4, 1]>) dims [0] root 0 over @line {dp} : (!exec.ref<2x4xf32, [4, 1]>) -> ()
  // CHECK: comm.send %{{.*}} to 1
  comm.send %x to 1 over @line {dp} : (!exec.ref<4xf32, [1]>) -> ()
  return
}

// CHECK-LABEL: func.func @memory_of_others
func.func @memory_of_others(%w: !exec.ref<2x4xf32, [4, 1]>, %x: !exec.ref<4xf32, [1]>)
    attributes {comm.program = #comm.program<@line, dp = [1, 2, 3]>} {
  // CHECK: comm.reduce sum %{{.*}} root 0 over @line {dp} : (!exec.ref<4xf32, [1]>) -> ()
  comm.reduce sum %x root 0 over @line {dp} : (!exec.ref<4xf32, [1]>) -> ()
  // CHECK: comm.gather %{{.*}} dims [0] root 0 over @line {dp} : (!exec.ref<2x4xf32, [4, 1]>) -> ()
  comm.gather %w dims [0] root 0 over @line {dp} : (!exec.ref<2x4xf32, [4, 1]>) -> ()
  // CHECK: comm.broadcast outs(%{{.*}} : !exec.ref<4xf32, [1]>) root 0 over @line {dp} : () -> ()
  comm.broadcast outs(%x : !exec.ref<4xf32, [1]>) root 0 over @line {dp} : () -> ()
  // CHECK: comm.scatter outs(%{{.*}} : !exec.ref<2x4xf32, [4, 1]>) dims [0] root 0
  comm.scatter outs(%w : !exec.ref<2x4xf32, [4, 1]>) dims [0] root 0 over @line {dp} : () -> ()
  // CHECK: comm.recv outs(%{{.*}} : !exec.ref<4xf32, [1]>) from 0
  comm.recv outs(%x : !exec.ref<4xf32, [1]>) from 0 over @line {dp} : () -> ()
  return
}

// The mesh is found from a program, which is a symbol table of its own.
// CHECK-LABEL: exec.program @whole
exec.program @whole arena 64 attributes {comm.program = #comm.program<@mesh>} {
  // CHECK: comm.barrier over @mesh {dp, tp, pp}
  comm.barrier over @mesh {dp, tp, pp} : () -> ()
}
